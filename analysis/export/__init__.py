"""Write figures and tables into files that a paper can include: `causeway report DIR --export pdf`.

tex.py    tables as LaTeX (booktabs)
write.py  writes the files. Start here
"""
