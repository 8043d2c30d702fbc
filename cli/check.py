"""`causeway check`: small worlds of a study's protocol, before it runs in large ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.markup import escape

from causeway.bridge.errors import UserError, unknown
from causeway.pycontrol.check import orders, properties, schedules, story
from causeway.pycontrol.check.world import Budget, World
from causeway.pycontrol.node import PerNode
from causeway.studies import registry
from causeway.studies.parameters import make_params, parse_settings
from causeway.studies.study import Study

SEED = 1


@dataclass(frozen=True)
class Search:
    """What the user asked for."""

    name: str
    settings: Sequence[str]
    properties: Sequence[str]
    budget: Budget
    tries: int
    seconds: float
    most_states: int
    """0: made-up orders; else every order, so many states at most."""
    seed: int


def check_study(search: Search, out_dir: Path, console: Console) -> bool:
    """Searches, tells, and writes the counterexample if there is one; True if something is broken."""
    study = registry.get(search.name)
    given = parse_settings(search.settings)
    names = search.properties or properties.USUAL
    for name in names:
        if name not in (*properties.ON_DELIVERY, *properties.AT_REST):
            raise unknown("property", name, (*properties.ON_DELIVERY, *properties.AT_REST))

    def make() -> World:
        return world_of(study, given, names, search.budget)

    world = make()
    console.print(f"{study.name}: {world.count} nodes, {_words(search.budget)}; {', '.join(names)}", markup=False)
    rules = schedules.Rules(tuple(properties.AT_REST[name] for name in names if name in properties.AT_REST))
    with console.status("") as status:
        if search.most_states:
            told: Any = orders.every_order(
                make, rules, search.most_states, search.seconds, lambda states: status.update(f"{states:,} states")
            )
            came = f"{told.states:,} states, {told.depth} events deep" + ("" if told.complete else ", not all")
        else:
            told = schedules.search(
                make, rules, search.tries, search.seconds, search.seed, lambda tried: status.update(f"{tried:,} orders")
            )
            came = f"{told.tried:,} orders of events"
    console.print(f"{came}, {told.seconds:.1f} s", markup=False, highlight=False)
    if told.broken is None:
        console.print("nothing is broken", markup=False)
        return False
    world = make()
    broken = schedules.follow(world, told.plan, rules) or told.broken
    _tell(study, world, broken, console)
    _write(search, study, world, broken, told.plan, out_dir, console)
    return True


def world_of(study: Study, given: Mapping[str, Any], names: Sequence[str], budget: Budget) -> World:
    """A fresh world of the study's protocol, with so much mischief."""
    params = make_params(study, given)
    network, protocol = study.network(params, SEED), study.protocol(params)
    if not isinstance(protocol, PerNode):
        raise UserError(
            f"study {study.name} computes on columns with these parameters; `check` needs a protocol of nodes (PerNode)"
        )
    workload = network.workload
    nodes = range(workload.first_node, workload.first_node + workload.nodes)
    watched = tuple(properties.ON_DELIVERY[name] for name in names if name in properties.ON_DELIVERY)
    return World(protocol, network.nodes, Budget(**vars(budget)), SEED, tuple(nodes), watched=watched)


def _words(budget: Budget) -> str:
    counts = {"broadcast": budget.broadcasts, "loss": budget.losses, "duplicate": budget.duplicates}
    counts["crash"] = budget.crashes
    plural = {"loss": "losses", "crash": "crashes"}
    words = [f"{n} {word if n == 1 else plural.get(word, word + 's')}" for word, n in counts.items() if n]
    return ", ".join(words) or "no mischief"


def _tell(study: Study, world: World, broken: str, console: Console) -> None:
    for line in story.in_words(world.log, broken)[:-1]:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    console.print(f"[red]broken[/] {escape(broken)}", highlight=False, soft_wrap=True)


def _write(
    search: Search, study: Study, world: World, broken: str, plan: Sequence[int], out_dir: Path, console: Console
) -> None:
    out_dir.mkdir(parents=True, exist_ok=True)
    page, example = out_dir / f"{study.name}.html", out_dir / f"{study.name}.json"
    page.write_text(story.page(world.log, world.count, broken, f"{study.name}: {study.title}"))
    what = {
        "study": search.name, "settings": list(search.settings), "properties": list(search.properties),
        "budget": vars(search.budget), "plan": list(plan), "broken": broken,
    }  # fmt: skip
    example.write_text(json.dumps(what, indent=1) + "\n")
    console.print(f"drawn in {page}, kept in {example}", markup=False, highlight=False, soft_wrap=True)
