"""What led to a wrong delivery: found by looking at a run once more, not by slowing every run.

Start here, in reading order:

- `witness.py`: looks on at a run, on any engine or from a recording: frames, broadcasts, deliveries, what is wrong
- `chain.py`: the few events that lead to one violation
- `spacetime.py`: such events as a space-time diagram, on a page of its own
- `shiviz.py`: the same as a log for ShiViz

`causeway explain` is the command.
"""
