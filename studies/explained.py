"""Explain a run: repeat it with an observer (`Witness`), and describe the causes of its first violations."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import inf
from pathlib import Path
from typing import Any

from causeway.bridge import engines
from causeway.bridge.engine import Engine
from causeway.bridge.engines.replay import ReplayEngine
from causeway.bridge.recording import nodes_of
from causeway.explore import schedule_page, spacetime
from causeway.explore.causal_chain import Chain, chain
from causeway.explore.witness import Watched, Witness, WitnessDone
from causeway.network.networks import InetNetwork, Network
from causeway.pycontrol.loop import passive_mask, run_protocol
from causeway.pycontrol.protocol import Protocol
from causeway.studies.runner import Job, make_spec


@dataclass(frozen=True)
class Evidence:
    """A run with the causal chains of its violations."""

    job: Job
    witness: Witness
    protocol: Protocol
    chains: tuple[Chain, ...]
    network: Network


def look(job: Job, recording: Path | None, wanted: int, most_s: float = inf) -> Evidence:
    """Run a job, or replay its recording, with a witness for at most `most_s` seconds."""
    protocol = job.study.protocol(job.params)
    spec = make_spec(job, passive_mask(protocol))
    engine: Engine = engines.get(job.engine) if recording is None else ReplayEngine()
    if recording is not None:
        spec = replace(spec, options={"recording": recording})
    witness = Witness(spec.network.nodes, wanted, most_s=most_s)
    observers = [*job.study.observers(job.params, spec.network.nodes), witness]
    with contextlib.suppress(WitnessDone):
        run_protocol(Watched(engine, witness, protocol), spec, protocol, observers)
    chains = tuple(chain(witness, violation, protocol, spec.network) for violation in witness.violations)
    if recording is not None and isinstance(spec.network, InetNetwork):
        name_modules(chains, nodes_of(recording))
    return Evidence(job, witness, protocol, chains, spec.network)


def name_modules(chains: Sequence[Chain], modules: Mapping[int, str]) -> None:
    """Name nodes by their modules in a user's own network, without the name of the network itself."""
    for one in chains:
        for node in one.names.keys() & modules.keys():
            one.names[node] = f"node {node} ({modules[node].partition('.')[2] or modules[node]})"


def drawn(one: Chain, title: str) -> spacetime.Story:
    """Return a chain in the form that diagrams need."""
    return spacetime.Story(
        one.events, one.names, title, one.title, describe_chain(one), frozenset(one.path), one.wanted,
        one.violation.node, one.path, one.violation.time_ps, timed=True,
    )  # fmt: skip


def describe_chain(one: Chain) -> Sequence[str]:
    """Describe each event of a chain in one line."""
    lines = []
    for event in one.events:
        values: dict[str, Any] = event._asdict()
        values["peer"] = one.names.get(event.peer, f"node {event.peer}") if event.peer >= 0 else "all in reach"
        text = schedule_page.NAMED[event.what].format(**values)
        if event.what == "packet" and event.text.endswith("]") and " [frame " in event.text:
            text += " [frame " + event.text.rpartition(" [frame ")[2]
        lines.append(f"{event.time_ps / 1e12:.6f} s  {one.names.get(event.node, f'node {event.node}')}  {text}")
    return lines


def unnamed_in_words(one: Chain) -> str:
    """Describe the packets that were left out because their contents name no message, and the remedy."""
    kinds = ", ".join(f"{count} {name}" for name, count in one.unnamed.most_common())
    example = one.unnamed_example if len(one.unnamed_example) <= 60 else one.unnamed_example[:57] + "..."
    return (
        f"left out: packets whose contents name no message ({kinds}; the first is {example}); if they contain "
        "messages, override PerNode.about(content), which returns (messages, nodes)"
    )
