"""Causeway: distributed protocols in Python on packet-level network simulators."""
