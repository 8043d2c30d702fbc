"""All published numbers below a folder, in the form for the report."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from causeway.analysis import published
from causeway.analysis.reduce.comparison import frame_of


def load_published(folder: Path) -> pd.DataFrame:
    """Return the rows of every CSV file below `folder`."""
    return frame_of([row for path in sorted(folder.rglob("*.csv")) for row in published.read(path)])
