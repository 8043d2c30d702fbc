"""The protocols of the papers, one package each. Each package opens with a map.

`node.py` is the reference implementation: one process, written like the paper's algorithm. If there is a vectorized
implementation, it is `vectorized.py` with `kernel.py` and `state.py`; tests compare the digests of both.

- `clocks`: causal broadcast with vector clocks and probabilistic clocks (paper `hash`, Algorithm 1)
- `hash`: the hash error detector on probabilistic clocks (paper `hash`, Algorithms 2 and 3)
- `dcs`: Dynamic Clock Sets (paper dcs23)
- `vcube`: the virtual hypercube and its failure detector, for icpp18 and ladc18
- `icpp18`: causal broadcast over VCube trees with aggregation
- `ladc18`: best-effort broadcast over VCube trees with bundled messages
- `mobile`: causal broadcast for mobile hosts (paper mobile20), and flooding over TCP
"""
