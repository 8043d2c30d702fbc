"""The description of a network, as studies write it and engines read it.

Start here:

- `networks.py`: the abstract network, the mobile network, and networks of users' INET projects
- `links.py`: latencies, losses and bandwidths for pairs of nodes of the abstract network
- `workload.py`: the nodes and times of broadcasts, and of scripted failures of nodes
- `stays.py`: nodes that come and go
- `faults.py`: link failures, jammers and partitions
- `movement.py`: traces of movement, read from ns-2 and BonnMotion files
- `traffic.py`: vehicles of a running SUMO as hosts
- `random.py`: the random numbers that all engines share

These modules only describe networks; they run nothing.
"""
