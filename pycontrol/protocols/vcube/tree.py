"""VCube: a virtual hypercube of processes, and its spanning trees (ScalA 2014).

Process i divides the other processes into log2(n) clusters; cluster s has 2**(s-1) of them. The recursive definition of
their order, c(i,s) = i^2**(s-1) || c(i^2**(s-1), k) for k = 1..s-1, is equal to the offsets 0, 1, 2, ... xor-ed to the
first element. The functions here are bit arithmetic that follows from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from causeway.errors import UserError

LARGEST = 4096


def dimension(processes: int) -> int:
    """Return log2 of the number of processes.

    Raises:
        UserError: The number is not a power of two from 2 to LARGEST.
    """
    if processes < 2 or processes > LARGEST or processes & (processes - 1):
        raise UserError(f"a VCube cannot have {processes} processes; choose a power of two from 2 to {LARGEST}")
    return processes.bit_length() - 1


def cluster_of(i: int, j: int) -> int:
    """Return the index of the cluster of i that contains j (i != j)."""
    return (i ^ j).bit_length()


def cluster(i: int, s: int) -> Iterator[int]:
    """Return the processes of c(i,s) in order."""
    first = i ^ (1 << (s - 1))
    return (first ^ offset for offset in range(1 << (s - 1)))


def ff_neighbor(i: int, s: int, correct: Sequence[int]) -> int:
    """Return the first process of c(i,s) that is correct (FF: fault-free), or -1."""
    return next((j for j in cluster(i, s) if correct[j]), -1)


def subtree(i: int, height: int, correct: Sequence[int]) -> list[int]:
    """Return the children of i as the root of a subtree of this height: one in each cluster, the largest first.

    The source's height is log2(n); a process that got the message from p has the height cluster_of(i, p) - 1. The
    papers do not define the order. This order reproduces the latencies of ladc18, Tables 2 and 3.
    """
    children = (ff_neighbor(i, s, correct) for s in range(height, 0, -1))
    return [child for child in children if child >= 0]


def tested_by(i: int, processes: int, correct: bytearray) -> list[int]:
    """Return the processes that i tests: each j in c(i,s) for which i is the first correct process of c(j,s).

    For j = i^2**(s-1)^x, c(j,s) = i^x, i^x^1, ..., i, ...: i can only be the first if x is 0 or i^x is faulty.
    """
    offsets, faulty = [0], correct.find(0)
    while faulty >= 0:
        offsets.append(i ^ faulty)
        faulty = correct.find(0, faulty + 1)
    offsets.sort()
    tested = []
    for s in range(1, dimension(processes) + 1):
        for offset in offsets:
            if offset >= 1 << (s - 1):
                break
            j = i ^ (1 << (s - 1)) ^ offset
            if correct[j] and (offset == 0 or ff_neighbor(j, s, correct) == i):
                tested.append(j)
    return tested


def tree(source: int, processes: int, correct: Sequence[int]) -> list[tuple[int, int]]:
    """Return the edges (parent, child) of a source's tree if all agree on `correct`. Parents precede children."""
    edges: list[tuple[int, int]] = []
    heads = [(source, dimension(processes))]
    for parent, height in heads:
        for child in subtree(parent, height, correct):
            edges.append((parent, child))
            heads.append((child, cluster_of(child, parent) - 1))
    return edges
