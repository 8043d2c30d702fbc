"""Explore models of a per-node protocol, and explain wrong deliveries of a run.

A model is a small network in memory, in which a search decides the order of events. `causeway check` explores models,
with the same protocol that runs on the engines; `causeway explain` examines a run. In reading order:

- `model.py`: the model: nodes, packets and timers; the choices of the next event, and their effects
- `mobile_model.py`: a model with stations on wires and hosts that change cells
- `properties.py`: the properties to check: causal order, FIFO order, no duplicates, delivery, and a study's own;
  `linearizability.py` checks calls and returns
- `checks.py`: the settings of a study
- `schedules.py`: random schedules; `shrink.py` shrinks one that violates a property
- `exhaustive.py`: exhaustive search of all schedules, state by state
- `machine.py`, `state_space.py`: nodes as state machines, models as tuples of numbers; `mobile_space.py` for hosts that
  change cells, `replay_machine.py` for nodes that cannot be copied (asyncio programs)
- `randomness.py`: detection of random numbers and hidden state in nodes
- `symmetry.py`, `partial_order.py`: reductions, by which one state or schedule represents many
- `mutants.py`: mutation tests: single changes of the protocol's code, which the properties should detect
- `stepper.py`, `debugger.py`: a schedule step by step, and in pdb
- `schedule_page.py`, `spacetime.py`, `shiviz.py`: a schedule as text, as a space-time diagram, as a log for ShiViz
- `witness.py`, `causal_chain.py`, `captured_frames.py`: the events of a run that lead to a wrong delivery, and the
  frames in captures that carried its packets
"""
