"""What figures are made of, for kinds of plots (causeway.analysis.kinds) to use.

figure.py   the numbers of a figure: points, lines
data.py     where a kind gets them: values of runs, and recorded series, on pandas or Spark
drawing.py  axes and marks, as SVG
numbers.py  numbers as text, ticks
"""
