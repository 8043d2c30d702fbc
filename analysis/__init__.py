"""From result files to parquet tables, reductions and the report.

Start here: `schema.py` defines the tables, `store.py` writes and reads them, `convert/` fills them from OMNeT++ files,
`reduce/` reduces samples and scalars to means with intervals, `kinds/` has a function for each kind of plot, `report/`
writes the page. Nothing here depends on a protocol or an engine.
"""
