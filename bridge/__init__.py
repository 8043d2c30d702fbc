"""The crossing between simulator and controller. Start here: `session.py`."""

from causeway.bridge.kernel_cache import use_kernel_cache

use_kernel_cache()
