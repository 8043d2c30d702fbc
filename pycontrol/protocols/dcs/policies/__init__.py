"""Policies for the decisions that the paper leaves open, one per file; `base.py` is their interface.

They decide when a process expands its clock, which components it increments, and which process starts rounds.
"""
