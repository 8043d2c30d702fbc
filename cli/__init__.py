"""The `causeway` command."""

import os

# numpy's BLAS would start a thread for each core, which takes longer than most commands, and adds up sums in an order
# that depends on the machine. Who computes with large matrices sets it himself.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
