"""The `causeway` command."""

import os

# numpy's BLAS would start a thread for each core, which takes longer than most commands, and adds up sums in an order
# that depends on the machine. Users who compute with large matrices can set the variable themselves.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
