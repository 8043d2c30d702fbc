"""Query a result folder from a notebook or a script: `causeway.results` is its public name.

folder.py    `open` a folder: runs, scalars, vectors, histograms as DataFrames. Start here
filters.py   expressions that select rows: `module =~ "**.host[*]" AND name =~ "delay*"`
patterns.py  patterns of names in these expressions, like OMNeT++'s
series.py    one recorded series and its operations: averages over time and windows, integral, throughput
"""
