"""Is a per-node protocol right? Small worlds in memory, in which somebody else decides what happens next.

Start here, in reading order:

- `world.py`: the world: nodes, packets on their way, timers; what can happen next, and making it happen
- `mobile.py`: the same with stations on wires and hosts that change cells
- `properties.py`: what must hold: causal order, FIFO order, no duplicates, everything owed arrives, and a user's own
- `checks.py`: what a study may say about all that
- `schedules.py`: thousands of made-up orders of events; one that breaks a property is shrunk
- `shrink.py`: what is left of such an order when nothing more can be left out
- `orders.py`: every order of events of a small world, state by state
- `machine.py`, `space.py`, `frozen.py`: nodes as machines, worlds as tuples of numbers, states as values
- `cells.py`: the same where hosts change cells; `retold.py`: for nodes that cannot be copied (asyncio programs)
- `symmetry.py`: states that differ only in what alike nodes are called are one
- `reduced.py`: of orders that differ only in how events at different nodes come, one is enough
- `mutants.py`: lines of the protocol broken one by one
- `story.py`: an order of events in words, and as a space-time diagram

`causeway check` is the command. The protocol is the one that runs on the engines, as it is.
"""
