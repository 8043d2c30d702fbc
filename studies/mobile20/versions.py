"""The table of docs/papers/mobile20-versions.md: the same seeds on several versions of INET and of ns-3."""

from __future__ import annotations

from collections.abc import Iterable

from causeway.analysis.reduce import arithmetic
from causeway.studies.tables import Measured, NotRun, lines, short, with_interval

SIMULATORS = ("INET", "ns-3")
SWEEP = "versions"
QUANTITIES = {
    "delivery delay (s)": "delivery_delay_s",
    "messages sent per delivery": "sent_per_delivery",
    "bytes sent a second": "sent_bytes_per_s",
    "loss of application copies in reach": "loss_application",
    "loss of all copies in reach": "loss_all",
    "`SBuffer` of stations": "sbuffer_station_mean",
    "`RBuffer` of hosts": "rbuffer_host_mean",
    "`init` to `Rsp2` (s)": "handoff_s",
    "out of order": "violations",
    "not delivered at the end": "missing",
}


def versions(measured: Measured) -> list[str]:
    """Compute the quantities of the sweep on every version, and what changed between the versions of a simulator."""
    there = sorted({row["engine"] for row in measured.rows})
    pairs = {
        name: (found[0], found[-1]) for name in SIMULATORS if len(found := [one for one in there if name in one]) > 1
    }
    rows = []
    for point in measured.study.sweeps[SWEEP]:
        at = {version: measured.at(engine=version, **point) for version in there}
        if not any(one.rows for one in at.values()):
            continue
        words = f"`{point['experiment']}`"
        for quantity, scalar in QUANTITIES.items():
            if not any(one.values(scalar) for one in at.values()):
                continue
            cells = (with_interval(one.values(scalar)) for one in at.values())
            changes = (change(at[older], at[newer], scalar) for older, newer in pairs.values())
            rows.append((words, quantity, *cells, *changes))
        rows.append((words, "seeds", *(str(len(one.rows)) for one in at.values()), *("" for _ in pairs)))
    if not rows:
        raise NotRun(f"the sweep `{SWEEP}`")
    return lines(("experiment", "quantity", *there, *(f"{name}: newest less oldest" for name in pairs)), rows)


def change(older: Measured, newer: Measured, scalar: str) -> str:
    """Return the difference between two versions over the same seeds with its interval, in bold if it excludes 0."""
    before, after = _by_seed(older, scalar), _by_seed(newer, scalar)
    differences = [after[seed] - before[seed] for seed in sorted(before.keys() & after.keys())]
    if not differences:
        return ""
    if not any(differences):
        return "equal in every run"
    _, mean, _, low, high = arithmetic.interval(differences)
    text = f"{short(mean)} ± {short((high - low) / 2)}"
    return f"**{text}**" if low > 0 or high < 0 else text


def _by_seed(measured: Measured, scalar: str) -> dict[int, float]:
    found: Iterable[tuple[int, float | None]] = ((row["seed"], row.get(scalar)) for row in measured.rows)
    return {seed: value for seed, value in found if value is not None}
