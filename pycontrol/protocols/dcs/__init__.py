"""Dynamic Clock Sets (dcs23): a set of probabilistic clocks that grows and shrinks with the load.

    protocol.py   all processes, over columns: start here
    kernel.py     the hot path: broadcast, reception, checkExpand, delivery
    state.py      the arrays
    rounds.py     Deactivation and Remove rounds
    policies/     when to expand, where to increment, who starts rounds
    process.py    one process, to be read beside the paper; the tests explore small worlds with it
"""
