"""Figures and tables as files that a paper includes: `causeway report DIR --export pdf`.

tex.py    tables as LaTeX (booktabs), and text as LaTeX takes it
write.py  the files. Start here
"""
