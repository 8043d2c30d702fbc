"""Figures of a report, drawn by matplotlib.

data.py     the numbers of a plot: values of runs, recorded series, published numbers. Start here
sheet.py    draws a plot on a matplotlib Figure and saves it as SVG, PDF or PGF
look.py     colours, line styles and legends of series and engines
axis.py     positions of parameter values on the x axis
svg.py      a drawing as an element of a page: accessible name, tooltips
style.py    the palette and matplotlib's settings
numbers.py  numbers as short text
latex.py    escapes text for LaTeX
"""
