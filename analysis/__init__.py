"""Result files -> parquet tables -> reductions -> report.

Start here: `schema.py` names the tables, `store.py` lands and reads them, `convert/` fills them from OMNeT++ files,
`reduce/` turns samples and scalars into intervals, `kinds/` has a class for each kind of plot, `report/`
writes the page. Nothing here knows a protocol or an engine.
"""

import causeway.bridge  # noqa: F401  says where compiled kernels are kept
