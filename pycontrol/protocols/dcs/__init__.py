"""Dynamic Clock Sets (dcs23): a set of probabilistic clocks that grows and shrinks with the load.

protocol.py   all processes, over columns: start here
kernel.py     the hot path: broadcast, reception, delivery
resize.py     Add, Activate, checkExpand, assignment to components
rounds.py     the conditions and effects of Deactivation and Remove rounds
mailroom.py   the packets of rounds
state.py      the arrays
policies/     when to expand, where to increment, who starts rounds
process.py    one process, to be read beside the paper; the tests explore small worlds with it
"""
