"""The crossing between simulator and controller: frames, sessions, transport, recordings, engines.

Start with `session.py`: it opens a run and trades windows of events for actions.
"""
