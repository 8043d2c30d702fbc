"""Write events as a log for ShiViz in its default format: a line of text, then one with the host and its clock."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from causeway.explore.model import Event


def log(events: Sequence[Event], lines: Sequence[str], names: Mapping[int, str]) -> str:
    """Return the log. The clock of an arrival includes the sender's clock at the sending."""
    clocks: dict[int, dict[str, int]] = {}
    carried: dict[int, dict[str, int]] = {}
    written = []
    for event, line in zip(events, lines, strict=False):
        name = names.get(event.node, f"node {event.node}").replace(" ", "-")
        clock = clocks.setdefault(event.node, {})
        if event.what in ("packet", "twice"):
            for other, count in carried.get(event.number, {}).items():
                clock[other] = max(clock.get(other, 0), count)
        clock[name] = clock.get(name, 0) + 1
        if event.what == "sent":
            carried[event.number] = dict(clock)
        written.append(f"{line}\n{name} {json.dumps(clock, sort_keys=True)}")
    return "\n".join(written) + "\n"
