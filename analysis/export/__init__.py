"""Figures and tables as files that a paper includes: `causeway report DIR --export pdf`.

tex.py    tables as LaTeX (booktabs)
write.py  writes the files. Start here
"""
