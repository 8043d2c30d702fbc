"""The crossing between simulator and controller. Start here: `session.py`."""
