"""Figures and tables as files that a paper includes: `causeway report DIR --export pdf`.

standalone.py  a figure of the report as an SVG file that needs nothing else: its colours, its legend
paint.py       such a drawing through matplotlib, for PDF
tex.py         tables as LaTeX (booktabs)
write.py       the files. Start here
"""
