"""Reductions over runs: from scalars and samples to intervals and binned series.

`in_spark` does them on DataFrames of any size, `in_pandas` the same on small ones, with the same names and the same
answers; `arithmetic` is what both share. Every function takes frames and gives a frame, and the answer does not depend
on how the rows were spread or ordered: sums are correctly rounded, ties are broken by value.

`comparison` sets measured beside published numbers; `expression` computes a quantity from several scalars.
"""
