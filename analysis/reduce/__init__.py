"""Reductions over runs: from scalars and samples to intervals and binned series.

Each is a function of pandas DataFrames. `spread` runs such a function on a pandas frame at once, and on a Spark frame
of any size in Spark's workers: `means` and `scalars` take both kinds and return the kind that they take. The answer
does not depend on how the rows were spread or ordered: sums are correctly rounded, ties are broken by value.

`arithmetic` sums and estimates; `comparison` sets measured beside published numbers; `expression` computes a quantity
from several scalars.
"""
