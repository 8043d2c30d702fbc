"""Studies: one package for each paper, the base class (study.py), one run (runner.py) and many (campaign.py)."""
