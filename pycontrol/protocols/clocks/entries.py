"""The entries f(p) of a process in a logical clock, and the comparison of two clocks.

Receivers compare their clock with `need`, the sender's clock BEFORE it counted the message. The paper's condition is
`m.V[x] - 1 <= V_p[x]` for the entries in which the message counts, and `m.V[x] <= V_p[x]` for the others. With `need`,
it is `need <= clock` for all entries.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from causeway.network.random import STREAM_PROTOCOL, below, draw
from causeway.pycontrol.state_arrays import inlined
from causeway.toolchain.jit import njit

STREAM_ENTRIES = STREAM_PROTOCOL


@njit()
def draw_entries(seed, nodes, size, entries):
    """Draw f.

    Each process p gets `entries` distinct entries of a clock with `size` entries, in ascending order, drawn from (seed,
    p).
    """
    f = np.zeros((nodes, entries), np.int32)
    for p in range(nodes):
        for i in range(entries):
            nth = below(draw(seed, STREAM_ENTRIES, p, i), size - i)  # take the nth of the free entries
            place = 0
            while place < i and f[p, place] <= nth:
                nth += 1
                place += 1
            for j in range(i, place, -1):
                f[p, j] = f[p, j - 1]
            f[p, place] = nth
    return f


@njit()
def _pick(left, taken, rows, bits):
    """Draw an entry that is not taken, with the counts in `left` as weights.

    An entry whose count equals the number of `rows` to fill must be in each of these rows, so it is always drawn.
    """
    weight = np.where(taken, 0, left)
    if (weight == rows).any():
        weight = (weight == rows).astype(np.int64)
    return np.searchsorted(np.cumsum(weight), below(bits, weight.sum()), side="right")


@njit()
def draw_even_entries(seed, nodes, size, entries):
    """Draw f such that each entry belongs to the same number of processes, or to one more.

    The processes draw one after the other, from the uses that remain of each entry. Then the rows are shuffled.
    """
    each = nodes * entries // size
    left, alike = np.full(size, each, np.int64), np.ones(size, np.int64)
    for i in range(nodes * entries % size):  # distinct entries with one use more
        left[_pick(alike, left > each, -1, draw(seed, STREAM_ENTRIES, nodes, i))] += 1
    f = np.zeros((nodes, entries), np.int32)
    for p in range(nodes):
        taken = np.zeros(size, np.bool_)
        for i in range(entries):
            f[p, i] = _pick(left, taken, nodes - p, draw(seed, STREAM_ENTRIES, p, i))
            taken[f[p, i]] = True
        left -= taken
        f[p].sort()
    for p in range(nodes - 1, 0, -1):
        q = below(draw(seed, STREAM_ENTRIES, nodes + 1, p), p + 1)
        for i in range(entries):
            f[p, i], f[q, i] = f[q, i], f[p, i]
    return f


def choose_entries(seed: int, nodes: int, size: int, entries: int, even: bool) -> NDArray[np.int32]:
    """Return f, shared evenly or drawn independently for each process."""
    return (draw_even_entries if even else draw_entries)(seed, nodes, size, entries)


def own_entries(nodes: int) -> NDArray[np.int32]:
    """Return f(p) = {p}, which makes a vector clock."""
    return np.arange(nodes, dtype=np.int32)[:, None].copy()


@inlined
def entry_lacking(clock, p, need, slot):
    """Return an entry in which the clock of p is behind the message's needs, or -1 if the message can be delivered."""
    lacking = np.int32(0)
    for x in range(clock.shape[1]):  # without a break, so that the compiler vectorizes it
        lacking |= clock[p, x] - need[slot, x]
    if lacking >= 0:
        return -1
    for x in range(clock.shape[1]):
        if clock[p, x] < need[slot, x]:
            return x
    return -1
