"""The crossing between simulator and controller: frames, sessions, transport, recordings, engines.

Start here: `session.py`, which opens a run and exchanges windows of events for actions.
"""
