"""Reads a result folder in a notebook or a script.

    import causeway.results

    folder = causeway.results.open("results")
    folder.scalars("delivery_delay_s", study="mobile20")

The guide's chapter on results explains it.
"""

from causeway.analysis.query.folder import Folder, open
from causeway.analysis.query.series import Series

__all__ = ["Folder", "Series", "open"]
