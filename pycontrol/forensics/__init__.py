"""Explain a wrong delivery: `causeway explain` repeats a run, or replays its recording, and keeps the evidence.

Runs are not slowed down for that. In reading order:

- `witness.py`: an observer that keeps the frames, broadcasts and deliveries of a run and finds violations
- `chain.py`: the few events that lead to one violation
- `spacetime.py`: a space-time diagram of these events, on a page of its own
- `shiviz.py`: these events as a log for ShiViz
- `frames.py`: the frames in captures of `run --pcap` that carried a packet
"""
