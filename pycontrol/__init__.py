"""The runtime of protocols: the controller's loop, nodes with handlers, and observers.

In reading order:

- `loop.py`: windows in, actions out, until the end of the run
- `protocol.py`: the interfaces of protocols and observers
- `handlers.py`: `Node`, a protocol written as one process: its handlers and services
- `node.py`: `PerNode`, which runs nodes on windows of events
- `checker.py`: the causality checker; `digest.py`: the digest of a run
- `tape.py`, `slots.py`: building blocks of compiled protocols
- `confined.py`, `answers.py`: confinement of handlers to the simulation
- `watchdog.py`, `interrupts.py`: handlers that do not return, and a user's interrupt
- `protocols/`: the protocols of the papers
"""
