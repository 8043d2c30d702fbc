"""The description of a network, as studies write it and engines read it.

Start here:

- `networks.py`: the abstract network, the mobile network, and networks of users' INET projects
- `workload.py`: the nodes and times of broadcasts, and of scripted failures of nodes
- `faults.py`: link failures, jammers and partitions
- `movement.py`: traces of movement, read from ns-2 and BonnMotion files
- `random.py`: the random numbers that all engines share

These modules only describe networks; they run nothing.
"""
