"""Reductions over runs: from scalars and samples to intervals and binned series.

Each is a function of pandas DataFrames. `spread` applies such a function to a pandas frame directly, or to a Spark
frame of any size in Spark's workers: `means` and `scalars` accept both kinds and return the kind that they get. The
result does not depend on the partitions or the order of the rows: sums are correctly rounded, ties are broken by value.

`arithmetic` has sums and intervals; `comparison` compares measured with published numbers; `expression` computes a
quantity from several scalars.
"""
