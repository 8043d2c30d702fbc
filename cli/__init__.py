"""The `causeway` command."""

import os

# numpy's BLAS would start a thread for each core. This takes longer than most commands, and the order in which it adds
# up sums would depend on the machine. Users who compute with large matrices can set the variable themselves.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
