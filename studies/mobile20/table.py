"""Every experiment of mobile20 on every engine and radio, in both geometries, as a table, from result folders.

python -m causeway.studies.mobile20.table [--at-once] results [more folders]

--at-once: of runs whose wires acknowledge at once, in every column.
"""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
from scipy import stats

from causeway.analysis import store

DEFAULT = {
    "spacing_m": "208.0", "placement": "cells", "acks": "owed", "radio": "unitdisk", "radio_bps": "0",
    "wire_acks": "delayed", "tree": "star", "retry": "pending",
}  # fmt: skip
VARIANTS: dict[str, dict[str, str]] = {
    "INET, unit disk": {"engine": "omnet"},
    "INET, wires acknowledged at once": {"engine": "omnet", "wire_acks": "at_once"},
    "INET, no medium access": {"engine": "omnet", "radio": "acking"},
    "INET, 180 m": {"engine": "omnet", "spacing_m": "180.0", "placement": "anywhere"},
    "INET, acks as printed": {"engine": "omnet", "acks": "periodic"},
    "INET, acks of intervals": {"engine": "omnet", "acks": "intervals"},
    "ns-3, unit disk": {"engine": "ns3"},
    "INET, 802.11": {"engine": "omnet", "radio": "wifi"},
    "ns-3, 802.11": {"engine": "ns3", "radio": "wifi"},
}
"""column -> what is not as in DEFAULT"""
AT_ONCE = "--at-once"

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
        ("ids received meanwhile", "handoff_msg_rcv_mean", "few"),
    ],
    "faults": [
        ("delivery delay (s)", "delivery_delay_s", ""),
        ("loss of application copies in reach", "loss_application", ""),
        ("loss of copies still needed", "loss_needed", ""),
        ("`SBuffer` of stations", "sbuffer_station_mean", ""),
        ("`SBuffer` of station 3", "sbuffer_station_3", ""),
        ("failures", "failures", "8"),
        ("not made good before the next", "failures_unrecovered", "1"),
        ("recovery (s)", "recovery_s", "a few"),
    ],
}
"""experiment -> (quantity, scalar, what the paper says)"""


def load(folders: list[Path]) -> pd.DataFrame:
    """One row a run: engine, parameters, scalars."""
    tables = []
    for folder in folders:
        runs = store.read_pandas(folder, "runs").query("study == 'mobile20'").set_index("run_id")
        parameters = store.read_pandas(folder, "parameters")
        scalars = store.read_pandas(folder, "scalars").query("module == 'run'")  # the others are the network's own
        tables.append(runs[["engine", "seed"]].join(_wide(parameters)).join(_wide(scalars)))
    return pd.concat(tables)


def _wide(table: pd.DataFrame) -> pd.DataFrame:
    return table.pivot(index="run_id", columns="name", values="value")


def of(runs: pd.DataFrame, experiment: str, variant: dict[str, str]) -> pd.DataFrame:
    """The runs of an experiment as the paper has it, in one variant."""
    mine = runs[(runs["experiment"] == experiment) & (runs["rate"].astype(float) == PAPER_RATE[experiment])]
    for name, value in {**DEFAULT, **variant}.items():
        mine = mine[mine[name] == value]
    return mine


def cell(values: pd.Series) -> str:
    """Mean and 95 % interval."""
    values = values.dropna().astype(float)
    if values.empty:
        return ""
    text = _short(values.mean())
    if len(values) > 1 and values.std() > 0:
        text += f" ± {_short(stats.t.ppf(0.975, len(values) - 1) * values.std() / len(values) ** 0.5)}"
    return text


def _short(value: float) -> str:
    return f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"


def main() -> None:
    folders = [Path(argument) for argument in sys.argv[1:] if argument != AT_ONCE]
    runs = load(folders or [Path("results")])
    if AT_ONCE in sys.argv:
        DEFAULT["wire_acks"] = "at_once"
        del VARIANTS["INET, wires acknowledged at once"]
    there = {name: v for name, v in VARIANTS.items() if any(len(of(runs, experiment, v)) for experiment in ROWS)}
    print("| experiment | quantity | paper |" + "".join(f" {name} |" for name in there))
    print("|---|---|---|" + "---|" * len(there))
    for experiment, rows in ROWS.items():
        found = [of(runs, experiment, variant) for variant in there.values()]
        for quantity, scalar, paper in rows:
            cells = [cell(table[scalar]) if scalar in table else "" for table in found]
            print(f"| `{experiment}` | {quantity} | {paper} | {' | '.join(cells)} |")
        print(f"| `{experiment}` | runs | | {' | '.join(str(len(table)) for table in found)} |")
    bad = runs[["violations", "duplicates", "missing"]].astype(float).groupby(runs["experiment"]).sum()
    print(f"\nIn all {len(runs)} runs together:\n{bad.to_string()}")


if __name__ == "__main__":
    main()
