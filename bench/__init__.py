"""Speed, always as ratios within one run. `make bench` runs every `bench_*.py` here and writes build/bench.json."""
