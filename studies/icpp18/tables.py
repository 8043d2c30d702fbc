"""The tables of docs/papers/icpp18.md."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from causeway.studies import scores
from causeway.studies.scores import Reading, Tried
from causeway.studies.tables import Measured, NotRun, Table, beside, lines, number, of_points, percent, with_interval

LARGE = 1024
"""The number of nodes in Figures 9 and 10."""
SIZES = (16, 32, 64, 128, 256, 512, LARGE)
SHARES = (
    *(f"packets_of_{m}" for m in (1, 2, 3, 4, 5)), "packets_of_6_up",
    *(f"packets_to_{b}_bytes" for b in (100, 200, 300, 400)), "packets_over_400_bytes",
    "independent_share", "dependencies_1_4", "dependencies_5_9", "dependencies_over_12",
)  # fmt: skip
CHANGES = tuple(f"{of}{what}_change" for of in ("", "pair_") for what in ("reception", "delivery", "wait"))
SCALARS = (
    "packets", "packets_aggregated", "messages_held", "violations", "largest_aggregate", "packets_full", "pairs",
    *SHARES, *CHANGES, "nodes_buffering_to_50", "nodes_buffering_over_250", "buffered_max",
    *(f"nodes_aggregating_to_{m}" for m in (6, 7, 11, 12)), "queue_wait", "queue_wait_longer",
    "packets_over_1400_bytes", "packets_of_15_in_all", "dependencies_max", "messages_of_dependencies_max",
    "dependencies_change", "reception_latency", "delivery_latency",
)  # fmt: skip


def _head(first: str, sizes: Sequence[int]) -> list[str]:
    return [first, *(f"{n:,}" for n in sizes)]


def table1(measured: Measured) -> list[str]:
    """Compute Table 1, packets by number of nodes."""
    rows = []
    for n in SIZES:
        plain = measured.at(nodes=n, aggregation=False)
        with_, wider = measured.at(nodes=n), measured.at(nodes=n, delay_sd=35.0)
        paper = measured.paper("Table 1", "packets", nodes=n)
        assert paper is not None
        off, off_wider = percent(with_.mean("packets") / paper), percent(wider.mean("packets") / paper)
        rows.append((
            f"{n:,}", beside(plain.mean("packets"), measured.paper("Table 1", "packets", nodes=n, aggregation=False)),
            f"{with_interval(with_.values('packets'), number)} ({number(paper)}), {off}",
            f"{with_interval(wider.values('packets'), number)}, {off_wider}",
            str(len(with_.rows)),
        ))  # fmt: skip
    head = ("nodes", "packets, no aggregation", "packets, aggregation", "packets, aggregation, deviation 35", "runs")
    return lines(head, rows)


def shares(measured: Measured) -> list[str]:
    """Compute Tables 2 and 3 and Figure 6: shares of packets and of messages, for 256 nodes."""
    with_, plain = measured.at(nodes=256), measured.at(nodes=256, aggregation=False)
    sizes = [f"packets_to_{b}_bytes" for b in (100, 200, 300, 400)]
    held = [f"packets_of_{m}" for m in (1, 2, 3, 4, 5)]
    dependencies = ("independent_share", "dependencies_1_4", "dependencies_5_9", "dependencies_over_12")

    def several(of: Measured, names: Sequence[str]) -> str:
        return ", ".join(number(of.mean(name), 1) for name in names) + " %"

    rows = [
        ("messages without a dependency; 1 to 4; 5 to 9; over 12 (Figure 6)", several(with_, dependencies),
         "27, 28.5, 18.4, 23 %"),
        ("packets without aggregation up to 100, 200, 300 bytes (Table 3)", several(plain, sizes[:3]),
         "63.7, 30.3, 6.0 %"),
        ("packets with aggregation up to 100, 200, 300, 400, more bytes (Table 3)",
         several(with_, [*sizes, "packets_over_400_bytes"]), "52.7, 31.3, 7.6, 3.9, 4.5 %"),
        ("packets with 1, 2, 3, 4, 5, more messages (Table 2)", several(with_, [*held, "packets_of_6_up"]),
         "84.6, 9.2, 3.1, 1.3, 0.7, 1.2 %"),
        ("most messages in a packet", number(with_.mean("largest_aggregate"), 1), "15"),
        ("full packets", number(with_.mean("packets_full"), 1), "117"),
        ("runs", str(len(with_.rows)), "1"),
    ]  # fmt: skip
    return lines(("256 nodes", "measured", "paper"), rows)


def _changes(measured: Measured, sizes: Sequence[int], of: str) -> Callable[[str, int], list[str]]:
    """Return a function that formats a row of changes, in percent, at all sizes.

    A cell is empty if no copy of that kind was sent.
    """

    def row(what: str, decimals: int) -> list[str]:
        runs = [measured.at(nodes=n, compare=True).values(f"{of}{what}_change") for n in sizes]
        return [percent(1 + sum(values) / len(values) / 100, decimals) if values else "" for values in runs]

    return row


def fig7(measured: Measured) -> list[str]:
    """Compute Figure 7, changes of latencies by aggregation."""
    row = _changes(measured, SIZES, "")
    rows = [
        ("reception", *row("reception", 1)),
        ("paper: more up to 512 nodes; at 256, at 1,024", *[""] * 4, "+8.1 %", "", "-7.4 %"),
        ("delivery", *row("delivery", 1)),
        ("paper: up to 512 nodes within 3.2 %, at 1,024", *[""] * 6, "-12.2 %"),
        ("wait from reception to delivery", *row("wait", 0)),
        ('paper: "from 5 % up to 53.4 %"', "-5 %", *[""] * 5, "-53.4 %"),
        ("runs", *(str(len(measured.at(nodes=n, compare=True).rows)) for n in SIZES)),
    ]
    return lines(_head("nodes", SIZES), rows)


def fig8(measured: Measured) -> list[str]:
    """Compute Figure 8, the same changes for packets of two messages."""
    sizes = (8, *SIZES)
    row = _changes(measured, sizes, "pair_")
    pairs = [measured.at(nodes=n, compare=True).mean("pairs") for n in sizes]
    rows = [
        ("packets of two messages", *(number(p, 1 if p < 10 else 0) for p in pairs)),
        ("reception", *row("reception", 1)),
        ("wait for delivery", *row("wait", 0)),
        ("delivery", *row("delivery", 1)),
    ]
    return lines(_head("nodes", sizes), rows)


def fig9_10(measured: Measured) -> list[str]:
    """Compute Figures 9 and 10, buffered messages and largest packets of 1,024 nodes."""
    with_, plain = measured.at(nodes=LARGE), measured.at(nodes=LARGE, aggregation=False)
    wider, small = measured.at(nodes=LARGE, delay_sd=35.0), measured.at(nodes=LARGE, message_size=5)

    def both(name: str) -> str:
        return f"{number(with_.mean(name))}, {number(plain.mean(name))}"

    def between(of: Measured, below: int, most: int) -> str:
        nodes = of.mean(f"nodes_aggregating_to_{most}") - of.mean(f"nodes_aggregating_to_{below}")
        return f"{100 * nodes / LARGE:.1f} %; {of.mean('largest_aggregate'):.1f}"

    to_50 = "nodes_buffering_to_50"
    rows = [
        ("nodes that never hold more than 50 messages, with, without aggregation (Figure 9)",
         f"{both(to_50)} (deviation 35: {number(wider.mean(to_50))})", "569, under 256"),
        ("nodes that hold over 250 messages at some time", both("nodes_buffering_over_250"), "24, 212"),
        ("most messages any node holds", both("buffered_max"), ""),
        ("nodes whose largest packet holds 7 to 11 messages; largest of all (Figure 10)", between(with_, 6, 11),
         "95.5 %; 14"),
        ("the same with messages of 5 bytes: 8 to 12", between(small, 7, 12), "81.3 %"),
        ("runs", str(len(with_.rows)), "1"),
    ]  # fmt: skip
    return lines((f"{LARGE:,} nodes", "measured", "paper"), rows)


def rest(measured: Measured) -> list[str]:
    """Compare the numbers of the paper's running text."""
    small, small_both = measured.at(nodes=256), measured.at(nodes=256, compare=True)
    large, large_both = measured.at(nodes=1024, aggregation=False), measured.at(nodes=1024, compare=True)
    longer = "100/(1+wait_change/100)-100"
    quantities = [
        ("wait for the sender's CPU without aggregation, 1,024 nodes (units)", large, "queue_wait", "around 50"),
        ("how much longer it is than with aggregation (%)", large_both, "queue_wait_longer", "53.4"),
        ("how much longer messages wait for delivery without aggregation, 1,024 nodes (%)", large_both, longer,
         "up to 53.4"),
        ("packets over 1,400 bytes, 256 nodes (%)", small, "packets_over_1400_bytes", "0.29"),
        ("packets with aggregation that are bigger than any without, 256 nodes (%)", small,
         "packets_to_400_bytes+packets_over_400_bytes", "8.45"),
        ("packets of 15 messages, 256 nodes", small, "packets_of_15_in_all", "4"),
        ("most dependencies of a message, 256 nodes", small, "dependencies_max", "54"),
        ("messages with that many", small, "messages_of_dependencies_max", "1"),
        ("largest change of a share of Figure 6 by aggregation (points)", small_both, "dependencies_change",
         "up to 2.73"),
    ]  # fmt: skip
    rows = []
    for words, runs, formula, paper in quantities:
        values = runs.values(formula)
        if not values:
            raise NotRun(f"{formula}, {words}")
        rows.append((words, with_interval(values), paper, str(len(values))))
    return lines(("", "measured", "paper", "runs"), rows)


def fig11(measured: Measured) -> list[str]:
    """Compute Figure 11, the savings of a single tree, and the latency that its root costs (Figure 1)."""
    rows = []
    for n in (8, *SIZES):
        many, one = measured.at(nodes=n), measured.at(nodes=n, trees="single")
        if one.rows:
            both = [with_interval(runs.values("reception_latency")) for runs in (many, one)]
            fewer = (
                with_interval(fewer_with_one_tree(measured, n, what), _percents)
                for what in FEWER_WITH_ONE_TREE.values()
            )
            rows.append((f"{n:,}", *fewer, *both, str(len(one.rows))))
    if not rows:
        raise NotRun("the sweep `fig11`")
    return lines((
        "nodes", "fewer packets of several messages (paper: over 86 % at 32)",
        "fewer messages that wait (paper: over 84 % at 128)", "reception, a tree for each source (units)",
        "reception, one tree (units)", "runs of one tree",
    ), rows)  # fmt: skip


def spreads(measured: Measured) -> list[str]:
    """Fit the spread of start times to each size, by packets with aggregation (deviations in percent)."""
    tried = sorted({point["spread"] for point in measured.study.sweeps["spreads"]} | {600.0})
    rows = []
    for n in SIZES:
        paper = measured.paper("Table 1", "packets", nodes=n)
        off = {spread: measured.at(nodes=n, spread=spread).values("packets") for spread in tried}
        ratios = {spread: sum(values) / len(values) / paper - 1 for spread, values in off.items() if values and paper}
        if len(ratios) > 1:
            best = min(ratios, key=lambda spread: abs(ratios[spread]))
            cells = (f"{100 * ratios[spread]:+.1f}" if spread in ratios else "" for spread in tried)
            rows.append((f"{n:,}", *cells, f"{best:g}"))
    if not rows:
        raise NotRun("the sweep `spreads`")
    return lines(("nodes", *(f"{spread:g}" for spread in tried), "nearest"), rows)


def in_queue(measured: Measured) -> list[str]:
    """Compute Table 1 with packets that grow in the sending queue."""
    rows = []
    for n in (16, 32, 64, 128):
        paper = measured.paper("Table 1", "packets", nodes=n)
        cells = []
        starts: tuple[dict[str, Any], ...] = ({}, {"start": "poisson", "spread": 1000.0})
        for start in starts:
            runs = measured.at(nodes=n, in_queue=True, **start)
            alone = measured.at(nodes=n, in_queue=True, aggregation=False, **start)
            off = f", {percent(runs.mean('packets') / paper)}" if runs.rows and paper else ""
            cells += [with_interval(runs.values("packets")) + off, with_interval(alone.values("packets"))]
        if any(cells):
            rows.append((f"{n}", f"{paper:,.0f}", f"{n * (n - 1):,}", *cells))
    if not rows:
        raise NotRun("the sweep `in_queue`")
    head = ("with our starts", "the queue alone", "with the printed starts", "the queue alone")
    return lines(("nodes", "paper", "paper, no aggregation", *head), rows)


def slow(measured: Measured) -> list[str]:
    """Compute Figure 9 with nodes of different speed: each takes up to a number of additional units before it sends."""
    points = {
        f"{'aggregation' if aggregation else 'none'}, up to {longest:g} units": {
            "nodes": LARGE, "slow": longest, "aggregation": aggregation,
        }
        for aggregation in (True, False)
        for longest in (0.0, 50.0, 100.0, 200.0)
    }  # fmt: skip
    quantities = {
        "nodes that buffer at most 50": "nodes_buffering_to_50", "over 250": "nodes_buffering_over_250",
        "packets": "packets", "reception (units)": "reception_latency",
    }  # fmt: skip
    return of_points(measured, points, quantities, "1,024 nodes")


def several(measured: Measured) -> list[str]:
    """Compute the effect of several broadcasts per node, the first two of which are left out of the dependencies."""
    points = {
        f"{n} nodes, {words}": {"nodes": n, **how}
        for n in (64, 256)
        for words, how in (("one broadcast", {}), ("five", {"messages": 5, "warmup": 2}))
    }
    quantities = {
        "packets (% of those without aggregation)": "100*packets/(nodes*(nodes-1)*messages)",
        "with several messages (%)": "100*packets_aggregated/packets", "no dependency (%)": "independent_share",
        "1 to 4 (%)": "dependencies_1_4", "most dependencies": "dependencies_max",
        "over 1,400 bytes (%)": "packets_over_1400_bytes",
    }  # fmt: skip
    return of_points(measured, points, quantities)


def _percents(value: float) -> str:
    return f"{value:.3g} %"


def deviations(measured: Measured) -> list[str]:
    """Compute packets with aggregation for each deviation of the delay, as deviations from the paper in percent."""
    rows = []
    for n in SIZES:
        paper = measured.paper("Table 1", "packets", nodes=n)
        assert paper is not None
        runs = [measured.at(nodes=n, delay_sd=sd) for sd in DEVIATIONS]
        cells = [f"{percent(one.mean('packets') / paper)} ({len(one.rows)})" if one.rows else "" for one in runs]
        rows.append((f"{n:,}", *cells))
    return lines(("nodes (runs in brackets)", *(f"deviation {sd:g}" for sd in DEVIATIONS)), rows)


# ---- every printed number under three readings ----------------------------------------------------------------------

DEVIATIONS = (25.0, 30.0, 35.0, 40.0, 50.0)
STARTED = ("start", "spread", "whole_units")
"""The parameters by which the three readings differ."""
FEWER_WITH_ONE_TREE = {
    "fewer aggregations with one tree (%)": "packets_aggregated",
    "fewer delayed messages with one tree (%)": "messages_held",
}


def fewer_with_one_tree(measured: Measured, nodes: int, scalar: str, **start: Any) -> list[float]:
    """Return the reduction with one tree instead of a tree for each source in percent, for each run with one tree."""
    many = measured.at(nodes=nodes, **start).values(scalar)
    mean = sum(many) / len(many) if many else 0.0
    single = measured.at(nodes=nodes, trees="single", **start).values(scalar)
    return [100 - 100 * one / mean for one in single] if mean else []


def _fewer(measured: Measured, row: dict[str, Any]) -> list[float]:
    start = {name: row["parameters"][name] for name in STARTED if name in row["parameters"]}
    return fewer_with_one_tree(measured, row["parameters"]["nodes"], FEWER_WITH_ONE_TREE[row["quantity"]], **start)


def _growth(measured: Measured, row: dict[str, Any]) -> list[float]:
    """Return the reception latency at 16 to 1,024 nodes divided by that at 8, as mean or maximum."""
    at = {n: measured.at(**{**row["parameters"], "nodes": n}).values("reception_latency") for n in (8, *SIZES)}
    if not all(at.values()):
        return []
    seeds = min(len(values) for values in at.values())
    ratios = [[at[n][seed] / at[8][seed] for n in SIZES] for seed in range(seeds)]
    return [max(one) if "maximum" in row["condition"] else sum(one) / len(one) for one in ratios]


PAIRED = {**dict.fromkeys(FEWER_WITH_ONE_TREE, _fewer), "reception latency at 1024 nodes over that at 8": _growth}
FORMULAS = {
    "aggregated_share": "100*packets_aggregated/packets",
    "aggregates_of_2+aggregates_of_3": "100*(packets_of_2+packets_of_3)/(100-packets_of_1)",
    **{f"aggregates_of_{m}": f"100*packets_of_{m}/(100-packets_of_1)" for m in (2, 3, 4, 5)},
    "aggregates_of_6_up": "100*packets_of_6_up/(100-packets_of_1)",
}
"""Scalars that follow from stored ones."""
IMPOSSIBLE: dict[tuple[str, str, str], str] = {}
TRIED = (
    Tried("Tables 1 to 3, Figures 6 to 10",
          ("table1", "table1_sd35", "deviations", "starts", "vcube_ps", "spreads", "in_queue", "slow", "several"),
          across=("nodes", "aggregation", "compare", "message_size"), elsewhere=28),
)  # fmt: skip


def is_number(_row: dict[str, Any]) -> bool:
    """Return True, since each row is a number of its own."""
    return True


def is_drawn(_point: dict[str, Any]) -> bool:
    """Return True, since delays are drawn at all points."""
    return True


def is_fitted(row: dict[str, Any], point: dict[str, Any]) -> bool:
    """Return whether the start times were fitted to this number: Figure 6, and Table 3 without aggregation."""
    fitted = row["where"] == "Fig. 6" or (row["where"] == "Table 3" and not point["aggregation"])
    return point["start"] == "triangular" and fitted and "most" not in row["quantity"]


def _text(point: dict[str, Any]) -> dict[str, Any]:
    return {**point, "start": "poisson", "spread": 1000.0}


def _sibling(point: dict[str, Any]) -> dict[str, Any]:
    return {**point, "start": "uniform", "spread": 500.0, "whole_units": True}


READINGS = (
    Reading("the printed text", _text),
    Reading("as the sibling program VCube-PS", _sibling),
    Reading("ours: the default", dict),
)
_HERE = sys.modules[__name__]

TABLES: dict[str, Table] = {
    "scores": scores.scores(_HERE), "tried": scores.tried(_HERE), "fig11": fig11, "deviations": deviations,
    "table1": table1, "table2 table3 fig6": shares, "fig7": fig7, "fig8": fig8, "fig9 fig10": fig9_10,
    "rest": rest, "spreads": spreads, "in_queue": in_queue, "slow": slow, "several": several,
}  # fmt: skip
