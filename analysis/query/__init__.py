"""Asking a result folder, from a notebook or a script: `causeway.results` is the public name of it.

folder.py    `open` a folder: runs, scalars, vectors, histograms as DataFrames. Start here
filters.py   which rows: `module =~ "**.host[*]" AND name =~ "delay*"`
patterns.py  the patterns in them, as OMNeT++ has them
series.py    one recorded series and what can be made of it: averages over time and windows, integral, throughput
"""
