"""The tables of docs/papers/mobile20.md: every experiment on every engine and radio, at both distances."""

from __future__ import annotations

import math
import sys
from typing import Any

from causeway.studies import scores
from causeway.studies.mobile20.study import CELLS, HOSTS_PER_CELL, JOINT, JOINT_BEST, JOINT_EXPERIMENTS, OLDER_FILE
from causeway.studies.mobile20.versions import versions
from causeway.studies.scores import Reading, Tried
from causeway.studies.tables import Measured, NotRun, Table, lines, of_points, percent, with_interval

INET: dict[str, Any] = {"engine": "omnet"}
NS3: dict[str, Any] = {"engine": "ns3"}
LITERAL: dict[str, Any] = {"spacing_m": 180.0, "placement": "anywhere"}
VARIANTS: dict[str, dict[str, Any]] = {
    "INET, unit disk": INET,
    "INET, acks as printed": {**INET, "acks": "periodic"},
    "INET, no medium access": {**INET, "radio": "acking"},
    "INET, 802.11": {**INET, "radio": "wifi"},
    "INET, 180 m": {**INET, **LITERAL},
    "INET, acks of intervals": {**INET, "acks": "intervals"},
    "INET, wires acknowledged at once": {**INET, "wire_acks": "at_once"},
    "ns-3, unit disk": NS3,
    "ns-3, 802.11": {**NS3, "radio": "wifi"},
}
"""Maps a column to its engine and the parameters that differ from the defaults."""

PAPER_RATE = {"static": 5.6, "static_tcp": 5.6, "load": 35.0, "dynamic": 25.0, "faults": 25.0}

ROWS: dict[str, list[tuple[str, str, str]]] = {
    "static": [
        ("delivery delay (s)", "delivery_delay_s", "0.20"),
        ("messages sent per delivery", "sent_per_delivery", "0.4"),
        ("loss of application copies in reach", "loss_application", "0.10"),
        ("loss of copies still needed", "loss_needed", ""),
        ("loss of all copies in reach", "loss_all", ""),
        ("`SBuffer` of stations", "sbuffer_station_mean", ""),
        ("`RBuffer` of hosts", "rbuffer_host_mean", "< 0.5"),
        ("bytes sent a second", "sent_bytes_per_s", ""),
    ],
    "static_tcp": [
        ("delivery delay (s)", "delivery_delay_s", "2"),
        ("messages sent per delivery", "sent_per_delivery", "1.58"),
        ("loss of all copies in reach", "loss_all", "0.05"),
        ("longest connection set-up (s)", "tcp_setup_max_s", "> 75"),
        ("copies on their way to hosts, per station", "sbuffer_station_mean", ""),
        ("bytes sent a second", "sent_bytes_per_s", ""),
        ("not delivered at the end", "missing", ""),
    ],
    "load": [
        ("delivery delay (s)", "delivery_delay_s", "0.31"),
        ("loss of application copies in reach", "loss_application", ""),
        ("loss of copies still needed", "loss_needed", ""),
        ("`SBuffer` of stations", "sbuffer_station_mean", "35"),
        ("`RBuffer` of hosts", "rbuffer_host_mean", "6"),
        ("messages sent a second", "sent_per_s", "700"),
        ("bytes sent a second", "sent_bytes_per_s", "4,300,000"),
    ],
    "dynamic": [
        ("delivery delay (s)", "delivery_delay_s", "about 0.3"),
        ("loss of application copies in reach", "loss_application", "0.075 to 0.085"),
        ("loss of copies still needed", "loss_needed", ""),
        ("`SBuffer` of stations", "sbuffer_station_mean", "a few dozen"),
        ("`RBuffer` of hosts", "rbuffer_host_mean", ""),
        ("`SBuffer` of hosts", "sbuffer_host_mean", "0.1 to 0.3"),
        ("`RBuffer` of stations", "rbuffer_station_mean", "0.1 to 0.3"),
        ("messages sent per delivery", "sent_per_delivery", ""),
        ("ids in `M_d`", "md_mean", "none or one"),
        ("handoffs", "handoffs", ""),
        ("`init` to `Rsp2` (s)", "handoff_s", ""),
        ("ids in `Rsp1`", "handoff_m_nd_mean", ""),
        ("ids in the longest `Rsp1`", "handoff_m_nd_max", "up to 200"),
        ("copies in `Rsp2`", "handoff_msg_req_mean", "few"),
        ("ids received between `Rsp1` and `Rsp2`", "handoff_msg_rcv_mean", "few"),
    ],
    "faults": [
        ("delivery delay (s)", "delivery_delay_s", ""),
        ("loss of application copies in reach", "loss_application", ""),
        ("loss of copies still needed", "loss_needed", ""),
        ("`SBuffer` of stations", "sbuffer_station_mean", ""),
        ("`SBuffer` of station 3", "sbuffer_station_3", ""),
        ("failures", "failures", ""),
        ("failures without recovery before the next one", "failures_unrecovered", "1"),
        ("recovery (s)", "recovery_s", "a few"),
        ("largest `SBuffer` of station 3, four shorter failures", "failure_peak_short", ""),
        ("largest `SBuffer` of station 3, four longer failures", "failure_peak_long", "larger"),
    ],
}
"""Maps an experiment to (quantity, scalar, number in the paper)."""


VARIED = "sbuffer_station_sd/sbuffer_station_mean"
SCALARS = (
    *dict.fromkeys(scalar for rows in ROWS.values() for _, scalar, _ in rows),
    "sbuffer_station_sd", "violations", "duplicates", "loss_of_own_hosts", "sbuffer_station_max", "sbuffer_station_end",
    "connections_station_mean",
)  # fmt: skip


GROWTH_S = 20
"""The measured time of the runs with more cells. It is too short for the paper's figures."""
GROWTH = {
    "`SBuffer` of a station": "sbuffer_station_mean", "delivery delay (s)": "delivery_delay_s",
    "loss of application copies in reach": "loss_application", "`RBuffer` of a host": "rbuffer_host_mean",
    "ids in `M_d`": "md_mean", "not delivered": "missing", "out of order": "violations",
}  # fmt: skip


def of(measured: Measured, experiment: str, variant: dict[str, Any]) -> Measured:
    """Return the runs of an experiment of the paper, in one variant."""
    here = measured.at(experiment=experiment, rate=PAPER_RATE[experiment], free=("duration_s",), **variant)
    return Measured(here.study, tuple(row for row in here.rows if row["parameters"]["duration_s"] != GROWTH_S))


def experiments(measured: Measured) -> list[str]:
    """Compute all quantities of all experiments, a column per variant."""
    there = {name: v for name, v in VARIANTS.items() if any(of(measured, e, v).rows for e in ROWS)}
    rows = []
    for experiment, quantities in ROWS.items():
        found = [of(measured, experiment, variant) for variant in there.values()]
        for quantity, scalar, paper in quantities:
            rows.append((f"`{experiment}`", quantity, paper, *(with_interval(one.values(scalar)) for one in found)))
        rows.append((f"`{experiment}`", "runs", "", *(str(len(one.rows)) for one in found)))
    return lines(("experiment", "quantity", "paper", *there), rows)


UNBOUNDED: tuple[tuple[str, str, str, float], ...] = (
    ("delivery delay, static (s)", "static", "delivery_delay_s", 0.2),
    ("messages sent per delivery, static", "static", "sent_per_delivery", 0.4),
    ("loss, static", "static", "loss_application", 0.1),
    ("delivery delay, 35/s (s)", "load", "delivery_delay_s", 0.31),
    ("`SBuffer` of stations, 35/s", "load", "sbuffer_station_mean", 35.0),
    ("`RBuffer` of hosts, 35/s", "load", "rbuffer_host_mean", 6.0),
    ("messages sent a second, 35/s", "load", "sent_per_s", 700.0),
    ("loss, walking (7.5 to 8.5 %)", "dynamic", "loss_application", 0.08),
    ("delivery delay, walking (s)", "dynamic", "delivery_delay_s", 0.3),
)
"""The numbers without a bound that the paper prints for its algorithm, except the bytes per second."""
BYTES = ("bytes sent a second, 35/s", "load", "sent_bytes_per_s", 4_300_000.0)
"""The tenth number. It is 41 times the size that the paper's own messages of the given length have."""


def nine(measured: Measured) -> list[str]:
    """Compute the deviation of every unbounded number under each reading that was run, with mean and maximum."""
    readings = [one for one in (*READINGS, BEST) if any(_nine_of(measured, one.change, row) for row in UNBOUNDED)]
    rows, off = [], [[] for _ in readings]  # type: tuple[list[tuple[str, ...]], list[list[float]]]
    for row in (*UNBOUNDED, BYTES):
        cells = []
        for reading, column in zip(readings, off, strict=True):
            values = _nine_of(measured, reading.change, row)
            ratio = sum(values) / len(values) / row[3] if values else None
            column += [ratio] if ratio is not None else []
            cells.append(
                f"{with_interval(values)}, {percent(ratio)} ({len(values)})" if ratio is not None else "not run"
            )
        rows.append((row[0], f"{row[3]:,.12g}", *cells))
    rows.append(("**nine numbers**: mean, worst", "", *(_mean_and_worst(column, len(UNBOUNDED)) for column in off)))
    rows.append(("all ten: mean, worst", "", *(_mean_and_worst(column, len(UNBOUNDED) + 1) for column in off)))
    return lines(("value (runs in brackets)", "paper", *(one.name for one in readings)), rows)


def _nine_of(measured: Measured, change: scores.Change, row: tuple[str, str, str, float]) -> list[float]:
    point = change({"experiment": row[1], "rate": PAPER_RATE[row[1]]})
    return measured.at(**INET, **point).values(row[2]) if point is not None else []


def _mean_and_worst(ratios: list[float], numbers: int) -> str:
    if len(ratios) < numbers:
        return "not all run"
    off = [ratio - 1 for ratio in ratios[:numbers]]
    mean = sum(map(abs, off)) / len(off)
    return f"**{100 * mean:.1f} %**, {percent(1 + max(off, key=abs))}"


def joint(measured: Measured) -> list[str]:
    """Compute the joint search: the deviations of the nine numbers for each reading, with the best mean first."""
    found = []
    for reading in JOINT:
        off = []
        for _, experiment, scalar, paper in UNBOUNDED:
            here = measured.at(**INET, **reading, **JOINT_EXPERIMENTS[experiment])
            values = here.values(scalar)
            off.append(sum(values) / len(values) / paper - 1 if values else None)
        if any(one is not None for one in off):
            seeds = len(measured.at(**INET, **reading, **JOINT_EXPERIMENTS["static"]).rows)
            found.append((reading, off, seeds))
    if not found:
        raise NotRun("the sweep `joint`")
    rows = []
    for reading, off, seeds in sorted(found, key=lambda one: _mean_off(one[1])):
        known = [one for one in off if one is not None]
        mean = f"{100 * _mean_off(off):.0f}" if len(known) == len(UNBOUNDED) else "not all run"
        words = ", ".join(f"`{name}={value}`" for name, value in reading.items()) or "the default"
        cells = ("" if one is None else f"{100 * one:+.0f}" for one in off)
        rows.append((words, mean, f"{100 * max(known, key=abs):+.0f}", *cells, str(seeds)))
    return lines(("reading", "mean", "worst", *(words for words, *_ in UNBOUNDED), "seeds"), rows)


def _mean_off(off: list[float | None]) -> float:
    known = [abs(one) for one in off if one is not None]
    return sum(known) / len(known) + (len(off) - len(known)) * 1e9


def modes(measured: Measured) -> list[str]:
    """Compute the effects of the modes that are off by default. The runs are short and on INET, with few seeds."""
    points: dict[str, dict[str, Any]] = {}
    for sweep in ("window", "walks", "reach", "tcp-load", "uncovered", "victims", "instability", "forever"):
        for point in measured.study.sweeps[sweep]:
            for seconds in sorted({20, 110, point.get("duration_s", 60)}):
                own = {name: value for name, value in point.items() if name != "drain_s"}
                words = ", ".join(f"`{name}={value}`" for name, value in {**own, "duration_s": seconds}.items())
                points[f"{sweep}: {words}"] = {**INET, **point, "duration_s": seconds}
    quantities = {
        "delay (s)": "delivery_delay_s", "loss in reach": "loss_application",
        "loss at stations' own hosts": "loss_of_own_hosts", "`SBuffer` of stations": "sbuffer_station_mean",
        "largest `SBuffer`": "sbuffer_station_max", "`SBuffer` at the end": "sbuffer_station_end",
        "`RBuffer` of hosts": "rbuffer_host_mean", "recovery (s)": "recovery_s", "not delivered": "missing",
    }  # fmt: skip
    return of_points(measured, points, quantities, "sweep and point")


CURVES: tuple[tuple[str, str, str, str, str], ...] = (
    ("6a", "TCP keeps far more messages (the axis is logarithmic)", "static_tcp", "static", "sbuffer_station_mean"),
    ("6a", "their number varies a lot on TCP, else little (deviation over mean)", "static_tcp", "static", VARIED),
    ("6b", "TCP sends more bytes", "static_tcp", "static", "sent_bytes_per_s"),
    ("6d", "TCP sends more for each delivery", "static_tcp", "static", "sent_per_delivery"),
    ("7a", "walking hardly changes `SBuffer` of stations", "dynamic", "standing", "sbuffer_station_mean"),
    ("7a", "walking hardly changes `RBuffer` of hosts", "dynamic", "standing", "rbuffer_host_mean"),
    ("7b", "walking hardly changes the number of messages sent", "dynamic", "standing", "sent_per_s"),
    ("", "walking delays deliveries by 0.05 s of 0.3", "dynamic", "standing", "delivery_delay_s"),
    (
        "8a",
        "failures of hosts of station 3: the mean of all stations (no statement)",
        "faults",
        "dynamic",
        "sbuffer_station_mean",
    ),
    ("8a", "the station mainly impacted is station 3", "faults", "dynamic", "sbuffer_station_3"),
)
"""For each statement of the text about curves: figure, statement, an experiment, another one for comparison, and a
scalar. The paper prints no numbers for these. "standing" is `static` at the rate of `dynamic`."""


def figures(measured: Measured) -> list[str]:
    """Compute the ratios behind the statements about Figures 6 to 8."""
    at = {experiment: of(measured, experiment, INET) for experiment in ROWS}
    at["standing"] = measured.at(**INET, experiment="static", rate=PAPER_RATE["dynamic"])
    rows = [(figure, words, *_beside(at[one], at[other], scalar)) for figure, words, one, other, scalar in CURVES]
    rows.append(("8b", "longer failures make `SBuffer` of station 3 larger (four longer ones, four shorter ones)",
                 *_beside(at["faults"], at["faults"], "failure_peak_long", "failure_peak_short")))  # fmt: skip
    return lines(("figure", "statement of the paper", "measured", "compared with", "ratio", "runs"), rows)


def _beside(one: Measured, other: Measured, scalar: str, of_other: str = "") -> tuple[str, str, str, str]:
    first, second = one.values(scalar), other.values(of_other or scalar)
    if not (first and second):
        return with_interval(first), with_interval(second), "", f"{len(first)}, {len(second)}"
    ratio = (sum(first) / len(first)) / (sum(second) / len(second))
    return with_interval(first), with_interval(second), f"{ratio:.2f}", f"{len(first)}, {len(second)}"


def cells(measured: Measured) -> list[str]:
    """Compute quantities by number of cells, for standing and for walking hosts."""
    rows = []
    for experiment, words in (("static", "standing"), ("dynamic", "walking")):
        for count in CELLS:
            here = measured.at(
                **NS3, experiment=experiment, rate=PAPER_RATE["static"], cells=count, hosts=HOSTS_PER_CELL * count,
                duration_s=GROWTH_S,
            )  # fmt: skip
            own = (with_interval(here.values(scalar)) for scalar in GROWTH.values())
            if here.rows:
                rows.append((str(count), f"{HOSTS_PER_CELL * count}, {words}", *own, str(len(here.rows))))
    if not rows:
        raise NotRun("the sweep `cells`")
    return lines(("cells", "hosts", *GROWTH, "runs"), rows)


# ---- every printed number under three readings ----------------------------------------------------------------------

IMPOSSIBLE: dict[tuple[str, str, str], str] = {}
TRIED = (
    Tried("all numbers, jointly", ("joint",), across=("experiment", "rate")),
    Tried("the nearest of these", ("joint-best",), across=("experiment", "rate")),
    Tried("all numbers, one change at a time", ("readings", "acks", "paper-acking", "paper-wifi", "paper-literal"),
          across=("experiment", "rate", "duration_s"), elsewhere=25),
)  # fmt: skip
OF_DEFAULT = ("radio", "spacing_m", "placement", "acks", "radio_bps", "intervals", "wire_acks")
"""The parameters in which rows of published numbers differ although they are about the same number."""


def is_number(row: dict[str, Any]) -> bool:
    """Return whether a row stands for a printed number, which is the case if its reading is the default."""
    default = {"radio": "unitdisk", "spacing_m": 208.0, "placement": "cells", "acks": "owed", "radio_bps": 0,
               "intervals": "exponential", "wire_acks": "delayed"}  # fmt: skip
    return all(row["parameters"].get(name, default[name]) == default[name] for name in OF_DEFAULT)


def is_drawn(_point: dict[str, Any]) -> bool:
    """Return True, since positions and broadcasts are drawn at all points."""
    return True


def is_fitted(_row: dict[str, Any], _point: dict[str, Any]) -> bool:
    """Return False, since bit rate and interference range were calibrated at another distance of stations, 180 m."""
    return False


def _slower(measured: Measured, row: dict[str, Any]) -> list[float]:
    """Return the additional delay of deliveries to walking hosts at this rate, for each seed with both runs.

    With the same seed, hosts begin at the same places.
    """
    points = (dict(row["parameters"]), {**row["parameters"], "experiment": "static"})
    walking, standing = (
        {run["seed"]: run["delivery_delay_s"] for run in measured.at(**INET, **point).rows} for point in points
    )
    return [walking[seed] - standing[seed] for seed in sorted(walking.keys() & standing.keys())]


def _unstable(measured: Measured, row: dict[str, Any]) -> list[float]:
    """Return the smallest number of pending messages after which a run was unstable, for each seed of the sweep.

    A run of the sweep `instability` is unstable if messages are still missing after 30 s without broadcasts.
    """
    least: dict[int, float] = {}
    for point in measured.study.sweeps["instability"]:
        for run in measured.at(**INET, **{**row["parameters"], **point}).rows:
            if run["missing"]:
                least[run["seed"]] = min(least.get(run["seed"], math.inf), run["sbuffer_station_max"])
    return [least[seed] for seed in sorted(least)]


PAIRED = {
    "delivery delay, walking more than standing (s)": _slower,
    "messages sent at once from which a cell is unstable": _unstable,
}


def _free(point: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in point.items() if name not in OF_DEFAULT}


READINGS = (
    Reading("the printed text",
            lambda point: {**_free(point), **LITERAL, "acks": "periodic"}, "omnet"),
    Reading("the authors' older file",
            lambda point: {**_free(point), **OLDER_FILE}, "omnet"),
    Reading("ours: the default", _free, "omnet"),
)  # fmt: skip
BEST = Reading("the joint search's nearest", lambda point: {**_free(point), **JOINT_BEST}, "omnet")
"""The reading of the joint search with the smallest mean deviation, run as long and as often as the default."""
_HERE = sys.modules[__name__]

TABLES: dict[str, Table] = {
    "scores": scores.scores(_HERE), "tried": scores.tried(_HERE), "nine": nine, "joint": joint, "": experiments,
    "figures": figures, "cells": cells, "modes": modes,
    "versions": versions,
}  # fmt: skip
