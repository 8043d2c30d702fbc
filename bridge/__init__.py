"""The crossing between simulator and controller. Start here: `session.py`."""

from bridge.kernel_cache import use_kernel_cache

use_kernel_cache()
