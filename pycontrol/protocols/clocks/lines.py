"""The queues of waiting messages: compiled functions over `Lines`."""

from __future__ import annotations

from causeway.pycontrol.protocols.clocks.state import END
from causeway.pycontrol.state_arrays import compiled


@compiled
def hold(lines, p, slot, entry):
    """Append a message to the queue of p. `entry` is an entry in which the clock of p is behind."""
    item = lines.spare[lines.counts[0].waiting]
    lines.counts[0].waiting += 1
    lines.counts[0].waited += 1
    lines.slot[item] = slot
    lines.entry[item] = entry
    lines.following[item] = END
    if lines.last[p] == END:
        lines.first[p] = item
    else:
        lines.following[lines.last[p]] = item
    lines.last[p] = item


@compiled
def take_out(lines, p, previous, item):
    """Remove an item from the queue of p. `previous` is the item before it, or END."""
    following = lines.following[item]
    if previous == END:
        lines.first[p] = following
    else:
        lines.following[previous] = following
    if following == END:
        lines.last[p] = previous
    lines.counts[0].waiting -= 1
    lines.spare[lines.counts[0].waiting] = item
