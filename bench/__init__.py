"""Benchmarks, whose results are ratios within one run.

`make bench` runs every `bench_*.py` and writes build/bench.json.
"""
