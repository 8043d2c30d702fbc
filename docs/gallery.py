"""Draw the pictures of the gallery, each from a real run, and write the page docs/gallery.md.

    python docs/gallery.py                 # all of them (`make pictures`)
    python docs/gallery.py flood raft      # these; the others stay as they are

The times are processor seconds of the command that the page shows, with compiled kernels and adapters.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt
import numpy as np
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

import causeway as cw
import causeway.results
from causeway.studies import registry

ROOT = Path(__file__).resolve().parents[1]
PAGE, PICTURES = ROOT / "docs" / "gallery.md", ROOT / "docs" / "images" / "gallery"
SECONDS = PICTURES / "seconds.json"
SVG = re.compile(r"<svg.*?</svg>", re.DOTALL)
WHITE = '<rect width="100%" height="100%" fill="#fff"/>'
TEXTBOOK = "examples/textbook"


@dataclass(frozen=True)
class Entry:
    """A program of the gallery."""

    file: str
    """The target of the link on the page."""
    line: str
    command: str
    draw: Callable[[Entry, Path], str]
    """A function that returns the picture as SVG, given the folder in which the command ran."""
    figure: str = ""
    """The file of the exported figure, without its suffix."""

    @property
    def name(self) -> str:
        """The name on the page, and of the picture."""
        return Path(self.file).stem


def counterexample(entry: Entry, folder: Path) -> str:
    """Return the diagram of the schedule that `causeway check` found."""
    pages = list((folder / "results" / "check").glob("*.html"))
    found = SVG.search(pages[0].read_text()) if pages else None
    if found is None:
        sys.exit(f"{entry.command}: found no counterexample in the time that it has (--seconds)")
    head, _, rest = found[0].partition(">")
    return f"{head}>{WHITE}{rest}"


def report_figure(entry: Entry, folder: Path) -> str:
    """Return a figure of the report."""
    kinds = ["--kinds", entry.file] if "@cw.plot_kind" in _source(entry) else []
    _run(["causeway", "report", "results", "--export", "svg", "--again", "0", *kinds], folder)
    figures = sorted((folder / "results" / "report" / "export").glob("*.svg"))
    named = [figure for figure in figures if figure.stem == entry.figure]
    if not named:
        sys.exit(f"{entry.name}: no figure is called {entry.figure}; there are {', '.join(f.stem for f in figures)}")
    return named[0].read_text()


def trails(entry: Entry, folder: Path) -> str:
    """Return a picture of the ways of all nodes; `--animate` records them."""
    ways = causeway.results.open(folder / "results").vectors("x_m OR y_m")
    figure, ax = plt.subplots(figsize=(5, 3.6), layout="constrained")
    for _, way in ways.groupby("module"):
        x, y = (way[way["name"] == name]["series"].iloc[0].value for name in ("x_m", "y_m"))
        stands = len(set(x)) == 1
        ax.plot(x, y, lw=1.1, alpha=0.75)
        ax.plot(x[-1], y[-1], "ks" if stands else "o", ms=7 if stands else 4)
    ax.set(xlabel="x (m)", ylabel="y (m)", aspect="equal")
    return _svg(figure)


def flights(entry: Entry, folder: Path) -> str:
    """Return a picture of the ways of all nodes in space, that of node 0 in black."""
    ways = causeway.results.open(folder / "results").vectors("x_m OR y_m OR z_m")
    figure = plt.figure(figsize=(5, 3.9))
    ax: Any = figure.add_axes((0.0, 0.03, 0.94, 0.96), projection="3d", computed_zorder=False)
    for module, way in ways.groupby("module"):
        x, y, z = (way[way["name"] == name]["series"].iloc[0].value for name in ("x_m", "y_m", "z_m"))
        leads = module == "place[0]"
        pen: dict[str, Any] = {"color": "#222", "lw": 1.8, "zorder": 3} if leads else {"color": "#0f8b8d", "lw": 0.7}
        ax.plot(x, y, z, **pen, label="leader" if leads else "other drones; dots at the end")
        ax.plot(x[-1:], y[-1:], z[-1:], "o", ms=4, **pen)
    for axis in (ax.xaxis, ax.yaxis, ax.zaxis):
        axis.set_major_locator(MaxNLocator(4))
    ax.set(xlabel="x (m)", ylabel="y (m)", zlabel="height (m)")
    handles, labels = ax.get_legend_handles_labels()
    named = dict(zip(labels, handles, strict=True))
    figure.legend(named.values(), named, loc="upper left", ncols=2, frameon=False)
    return _svg(figure)


def reached(entry: Entry, folder: Path) -> str:
    """Return a map of all nodes with the time that the one message took to each."""
    found = causeway.results.open(folder / "results").vectors("x_m OR y_m OR travel_ms")
    found["node"] = found["module"].str.extract(r"\[(\d+)\]", expand=False).astype(int)
    found["value"] = [series.value[-1] for series in found["series"]]
    nodes = found.pivot(index="node", columns="name", values="value").sort_values("travel_ms", ascending=False)
    figure, ax = plt.subplots(figsize=(5, 2.4), layout="constrained")
    x, y, missed = nodes["x_m"] / 1000, -nodes["y_m"] / 1000, nodes["travel_ms"].isna()
    ax.plot(x[missed], y[missed], "x", color="#d1495b", ms=5, label="not reached", zorder=3)
    dots = ax.scatter(x, y, 9, nodes["travel_ms"], cmap="viridis_r", lw=0)
    source = nodes["travel_ms"].idxmin()
    ax.plot(x[source], y[source], "*", color="#d1495b", ms=9, label="source")
    dots.set_clim(0, nodes["travel_ms"].quantile(0.98))
    figure.colorbar(dots, ax=ax, label="reached after (ms)", extend="max", aspect=20, pad=0.02)
    ax.set(xlabel="longitude (degrees)", ylabel="latitude (degrees)", aspect="equal")
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=2, frameon=False)
    return _svg(figure)


class Observed:
    """An observer that keeps every broadcast and delivery of a run."""

    def __init__(self) -> None:
        self.rows: list[tuple[NDArray[Any], ...]] = []

    def observe(self, *columns: NDArray[Any]) -> None:
        """Keep rows."""
        self.rows.append(tuple(column.copy() for column in columns))

    def scalars(self) -> Mapping[str, float]:
        """Return nothing."""
        return {}


def deliveries(entry: Entry, folder: Path) -> str:
    """Return a picture of all deliveries: time, node, and the message by its colour."""
    seen, study = Observed(), registry.get(str(ROOT / entry.file))
    own = study.observers
    study.observers = lambda params, nodes: [*own(params, nodes), seen]  # type: ignore[method-assign]
    cw.run(study)
    op, time_ps, node, message = (np.concatenate(column) for column in zip(*seen.rows, strict=True))
    figure, ax = plt.subplots(figsize=(5, 3), layout="constrained")
    for kind, marker, size in (0, "D", 26), (1, "o", 7):
        rows = op == kind
        ax.scatter(
            time_ps[rows] / 1e12, node[rows], size, message[rows], marker=marker, cmap="turbo", lw=0, rasterized=True
        )
    ax.set(xlabel="time (s); diamonds are broadcasts, dots deliveries", ylabel="node")
    return _svg(figure)


def samples_of(entry: Entry, folder: Path) -> str:
    """Return a histogram of what the nodes recorded."""
    recorded = causeway.results.open(folder / "results").vectors(entry.figure)["series"]
    values = np.concatenate([series.value for series in recorded])
    figure, ax = plt.subplots(figsize=(5, 3), layout="constrained")
    ax.hist(1e3 * values, 40, color="#0f8b8d")
    ax.set(xlabel=f"{entry.figure.removesuffix('_s').replace('_', ' ')} (ms)", ylabel="samples")
    return _svg(figure)


def checked(name: str, line: str, options: str, folder: str = TEXTBOOK) -> Entry:
    """Return an entry with a counterexample as its picture."""
    file = f"{folder}/{name}.py"
    return Entry(file, line, f"causeway check {file} {options}", counterexample)


def study(name: str, line: str, figure: str, options: str = "--sweep demo --reps 3") -> Entry:
    """Return an entry for a paper's study."""
    return Entry(f"docs/papers/{name}.md", line, f"causeway run {name} {options}", report_figure, f"{name}-{figure}")


WRONG = "--every 1000000 --set version="
GALLERY = {
    "Studies of papers": (
        study("hash", "Hashes detect messages that clocks deliver too early.", "requests-against-the-load"),
        study("dcs23", "Clocks that grow and shrink with the load.", "entries-of-the-clock-under-the-bell-load",
              "--set load=bell"),
        study("icpp18", "Causal broadcast over VCube trees, with aggregation.", "packets"),
        study("ladc18", "Broadcast over VCube trees with bundled messages.", "latency-fault-free"),
        study("mobile20", "Causal broadcast for mobile hosts, on a radio.", "sbuffer-of-the-stations-over-time",
              "--set experiment=dynamic --set duration_s=10"),
    ),
    "Examples on networks": (
        Entry("examples/first.py", "The first program: flooding in fifteen lines.", "python examples/first.py",
              lambda entry, folder: deliveries(Entry("examples/flood.py", "", "", deliveries), folder)),
        Entry("examples/rumour.py", "A rumour among walking hosts: stations on wires, one radio channel.",
              "causeway run examples/rumour.py --animate 0.5", trails),
        Entry("examples/drone.py", "Cars on a trace of SUMO, a drone that the protocol moves, and a jammer.",
              "causeway run examples/drone.py --animate 0.5", trails),
        Entry("examples/swarm.py", "Drones that keep their formation in space although packets are lost.",
              "causeway run examples/swarm.py --animate 0.5", flights),
        Entry("examples/warning.py", "Cars of SUMO warn each other of an accident, and take another road.",
              "causeway run examples/warning.py --engine ns3 --sweep warned", report_figure,
              "warning-travel-times"),
        Entry("examples/cities.py", "Gossip between a thousand nodes in a hundred cities.",
              "causeway run examples/cities.py --set messages=1 --animate 1", reached),
        Entry("examples/ring.py", "A token ring over TCP: all nodes deliver all messages in one order.",
              "causeway run examples/ring.py", deliveries),
        Entry("examples/chatter.py", "An asyncio program, unmodified, on simulated hosts.",
              "causeway run examples/chatter.py --set nodes=20", samples_of, "round_trip_s"),
        Entry("examples/spread.py", "Your own kind of plot.",
              "causeway run examples/spread.py --sweep loss --reps 5", report_figure, "spread-deliveries-by-loss"),
    ),
    "Examples in which `check` finds a violation": (
        checked("flood", "Flooding keeps no causal order.", "--broadcasts 2", "examples"),
        checked("keyvalue", "A key-value store; answers of followers are stale.", "--set version=stale", "examples"),
        checked("register", "A shared register; the hurried version is not linearizable.",
                "--set version=hurried --calls 3 --every 2000000 --seconds 600", "examples"),
        checked("tally", "An asyncio program; the careless version counts twice.",
                "--every 100000 --late --losses 1 --set version=careless", "examples"),
        checked("causal_broadcast", "Causal broadcast with vector clocks.", f"{WRONG}careless"),
        checked("fifo_broadcast", "FIFO broadcast.", f"{WRONG}hasty"),
        checked("reliable_broadcast", "Eager reliable broadcast.", f"{WRONG}trusting"),
        checked("total_order", "Total order by a sequencer.", f"{WRONG}hasty"),
        checked("mutual_exclusion", "Mutual exclusion with logical clocks.", f"{WRONG}hasty"),
        checked("snapshot", "A snapshot of a running system.", f"{WRONG}blind"),
        checked("two_phase_commit", "Two-phase commit.", f"{WRONG}hasty"),
        checked("raft_election", "Raft's leader election.", f"{WRONG}unsaved"),
        checked("raft", "Raft with its log.", "--set version=careless"),
        checked("swim", "SWIM: group membership.", "--set version=hasty"),
        checked("plumtree", "Plumtree: broadcast trees that repair themselves.", "--set version=bare"),
    ),
}  # fmt: skip
INTRODUCTION = """# Gallery

Every study and example, with a picture from a real run. The seconds are those of a processor, with compiled kernels and
adapters. `make pictures` makes all the runs again, draws the pictures, and writes this page; runs that need a radio use
INET if it is installed, else ns-3.

A space-time diagram is a counterexample that `causeway check` found in a wrong version of the protocol: lines are
nodes, arrows are packets, and time goes to the right.
"""


def _source(entry: Entry) -> str:
    return (ROOT / entry.file).read_text() if entry.file.endswith(".py") else ""


def _run(command: list[str], folder: Path) -> float:
    """Run a command and return the processor seconds that it took."""
    words = [sys.executable, "-m", "causeway.cli.main", *command[1:]] if command[0] == "causeway" else command
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode and not (done.returncode == 1 and "check" in command):  # a check has found something
        sys.exit(f"{' '.join(command)}: {done.stderr or done.stdout}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _svg(figure: Figure) -> str:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "figure.svg"
        figure.savefig(path, dpi=150, metadata={"Date": None})
        plt.close(figure)
        return path.read_text()


def draw(entry: Entry) -> float:
    """Make the runs of an entry, write its picture, and return the seconds that the command took."""
    with tempfile.TemporaryDirectory(prefix="causeway-gallery-") as name:
        folder = Path(name)
        (folder / "examples").symlink_to(ROOT / "examples")
        command = [sys.executable if word == "python" else word for word in entry.command.split()]
        seconds = _run(command, folder)
        (PICTURES / f"{entry.name}.svg").write_text(entry.draw(entry, folder))
    return seconds


def card(entry: Entry, seconds: float) -> str:
    """Return the Markdown of an entry."""
    shown = f" ({seconds:.0f} s)" if seconds else ""
    link = entry.file.removeprefix("docs/") if entry.file.startswith("docs/") else f"../{entry.file}"
    there = (PICTURES / f"{entry.name}.svg").exists()
    picture = f"![{entry.name}: {entry.line}](images/gallery/{entry.name}.svg)\n\n    " if there else ""
    return f"-   {picture}**[{entry.name}]({link})**: {entry.line}{shown}\n\n    ```sh\n    {entry.command}\n    ```\n"


def main() -> None:
    """Draw the requested pictures, and write the page."""
    parser = argparse.ArgumentParser(description="Draw the pictures of the gallery, and write its page.")
    parser.add_argument("names", nargs="*")
    names = parser.parse_args().names
    plt.rcParams |= {"svg.hashsalt": "causeway", "svg.fonttype": "none", "font.size": 9}
    PICTURES.mkdir(parents=True, exist_ok=True)
    seconds: dict[str, float] = json.loads(SECONDS.read_text()) if SECONDS.exists() else {}
    page = INTRODUCTION
    for title, entries in GALLERY.items():
        page += f'\n## {title}\n\n<div class="grid cards" markdown>\n\n'
        for entry in entries:
            if not names or entry.name in names:
                seconds[entry.name] = round(draw(entry), 1)
                print(f"{entry.name}: {seconds[entry.name]} s", flush=True)
                SECONDS.write_text(json.dumps(seconds, indent=1, sort_keys=True) + "\n")
            page += card(entry, seconds.get(entry.name, 0)) + "\n"
        page += "</div>\n"
    PAGE.write_text(page)


if __name__ == "__main__":
    main()
