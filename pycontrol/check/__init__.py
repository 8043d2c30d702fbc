"""Check a per-node protocol in models: small networks in memory, in which a search decides the order of events.

`causeway check` uses this package, with the same protocol that runs on the engines. In reading order:

- `world.py`: the model: nodes, packets and timers; the choices of the next event, and their effects
- `mobile.py`: a model with stations on wires and hosts that change cells
- `properties.py`: the properties to check: causal order, FIFO order, no duplicates, delivery, and a study's own
- `checks.py`: the settings of a study
- `schedules.py`: random schedules; one that violates a property is shrunk
- `shrink.py`: the shrinking of schedules
- `orders.py`: exhaustive search of all schedules, state by state
- `machine.py`, `space.py`, `frozen.py`: nodes as state machines, models as tuples of numbers, states as values
- `cells.py`: the state space of `mobile.py`; `retold.py`: machines for nodes that cannot be copied (asyncio programs)
- `symmetry.py`: one state represents all that differ only in the ids of symmetric nodes
- `reduced.py`: partial-order reduction
- `chance.py`: detection of random numbers and hidden state in nodes
- `linear.py`: a check of linearizability
- `mutants.py`: mutation tests: single changes of the protocol's code, which the properties should detect
- `stepper.py`, `debugger.py`: a schedule step by step, and in pdb
- `story.py`: a schedule as text, and as a space-time diagram
"""
