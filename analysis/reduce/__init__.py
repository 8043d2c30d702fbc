"""Reductions over runs: from scalars and samples to intervals and binned series.

Each is a function of pandas DataFrames. `spread` applies such a function directly to a pandas frame, and in Spark's
workers to a Spark frame of any size. `means` and `scalars` accept both kinds of frame and return the kind that they
got. The result does not depend on the partitions or on the order of the rows: sums are correctly rounded, and ties are
broken by value.

`arithmetic` has sums and intervals; `comparison` compares measured with published numbers; `expression` computes a
quantity from several scalars.
"""
