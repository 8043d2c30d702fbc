"""Explore models of a per-node protocol, and draw what went wrong.

A model is a small network in memory, in which somebody else decides what happens next. Start here, in reading order:

- `model.py`: nodes, packets on their way, timers; what can happen next, and making it happen
- `mobile_model.py`: the same with stations on wires and hosts that change cells
- `properties.py`: what must hold: causal order, FIFO order, no duplicates, everything owed arrives, and a user's own;
  `linearizability.py` has the one for calls and returns
- `checks.py`: what a study declares about all that
- `schedules.py`: thousands of random schedules; `shrink.py` leaves out of a failing one whatever can be left out
- `exhaustive.py`: every schedule of a model, state by state
- `machine.py`, `state_space.py`: nodes as machines, models as tuples of numbers; `mobile_space.py` where hosts change
  cells, `replay_machine.py` for nodes that cannot be copied (asyncio programs), `randomness.py` for nodes that draw
- `symmetry.py`, `partial_order.py`: states and schedules of which one stands for many
- `mutants.py`: lines of the protocol broken one by one
- `stepper.py`, `debugger.py`: one schedule step by step
- `schedule_page.py`, `spacetime.py`, `shiviz.py`: a schedule in words, as a space-time diagram, as a log for ShiViz
- `witness.py`, `causal_chain.py`, `captured_frames.py`: the events of a run that lead to one wrong delivery, and the
  frames of a capture that carried them

`causeway check` explores, `causeway explain` looks at a run. The protocol is the one that runs on the engines, as it
is.
"""
