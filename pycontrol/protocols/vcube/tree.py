"""VCube: the virtual hypercube that processes are organized in, and its spanning trees (ScalA 2014).

Seen from process i the others fall into log2(n) clusters; cluster s has 2**(s-1) of them. Their order is that of the
recursive definition c(i,s) = i^2**(s-1) || c(i^2**(s-1), k) for k = 1..s-1, and that is simply the offsets 0, 1, 2, ...
xor-ed to the first element. Everything here is bit arithmetic that follows from it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from causeway.bridge.errors import UserError

LARGEST = 4096


def dimension(processes: int) -> int:
    """log2 of a legal number of processes."""
    if processes < 2 or processes > LARGEST or processes & (processes - 1):
        raise UserError(f"a VCube has 2, 4, 8, ... {LARGEST} processes, not {processes}: choose a power of two")
    return processes.bit_length() - 1


def cluster_of(i: int, j: int) -> int:
    """The index of the cluster of i that holds j (i != j)."""
    return (i ^ j).bit_length()


def cluster(i: int, s: int) -> Iterator[int]:
    """c(i,s), in order."""
    first = i ^ (1 << (s - 1))
    return (first ^ offset for offset in range(1 << (s - 1)))


def ff_neighbor(i: int, s: int, correct: Sequence[int]) -> int:
    """The first process of c(i,s) that is correct, or -1 (FF: fault-free)."""
    return next((j for j in cluster(i, s) if correct[j]), -1)


def subtree(i: int, height: int, correct: Sequence[int]) -> list[int]:
    """The children of i in a tree where it heads a subtree of this height: one a cluster, the biggest first.

    The root's height is log2(n); a process that got the message from p has height cluster_of(i, p) - 1. The papers
    leave the order open; from the highest cluster down reproduces the latencies of ladc18 (its Tables 2 and 3).
    """
    children = (ff_neighbor(i, s, correct) for s in range(height, 0, -1))
    return [child for child in children if child >= 0]


def tested_by(i: int, processes: int, correct: bytearray) -> list[int]:
    """The processes that i tests: each j in c(i,s) whose own cluster c(j,s) has i as its first correct process.

    j = i^2**(s-1)^x comes to try c(j,s) = i^x, i^x^1, ..., i, ...: i is first only if x is 0 or i^x is faulty.
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
    """Edges (parent, child) of the tree of a source, if all agree on who is correct; parents before children."""
    edges: list[tuple[int, int]] = []
    heads = [(source, dimension(processes))]
    for parent, height in heads:
        for child in subtree(parent, height, correct):
            edges.append((parent, child))
            heads.append((child, cluster_of(child, parent) - 1))
    return edges
