"""The published simulator of paper `hash` beside ours, on the same settings: deliveries per second of processor time.

CAUSEWAY_AUTHORS names a folder with a built copy, `ErrorDetectors/code`; docs/lab/authors.md says how to build it.
Both check every delivery for causality and count what is wrong. The two take turns; the best of each counts.
"""

from __future__ import annotations

import os
import re
import resource
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

from causeway.errors import RunError, UserError
from causeway.studies.runner import Job, run_job

FOLDER = "CAUSEWAY_AUTHORS"
PROCESSES, CLOCK, PERIOD_S, DELAY_SD_MS = 200, 50, 2, 30.0
"""As in their published settings; the deviation of delays stands in their code."""
DURATION_S = 20
MESSAGES = DURATION_S * PROCESSES // PERIOD_S
ROUNDS = 3
COMPARED = {"ratio": "higher"}
NODES = {2: "NodePC", 3: "NodeWithoutRecovery"}
"""Their module for clocks alone, and with the detector of Mostefaoui."""
NED = """package ErrorDetectorWithRecovery;
network ErrorDetectorWithRecovery
{{
    types:
        channel Direct extends ned.DelayChannel {{ delay = 0ms; }}
    submodules:
        simParams: SimulationParameters;
        Nodes[{processes}]: {node};
        control: Controller;
        stat: Stats;
        Communications: CommunicationDispatcher;
    connections:
        for i=0..{last} {{ Nodes[i].gate <--> Direct <--> Communications.neighbour++; }}
}}
"""
INI = """[General]
network = ErrorDetectorWithRecovery
sim-time-limit = {duration}s
*.simParams.nbNodes = {processes}
*.simParams.clockLength = {clock}
*.simParams.delaySend = {period}
*.simParams.PEAKSPERDELAY = {processes}.0
*.simParams.deliveryOption = {option}
*.simParams.recovering = false
**.vector-recording = false
**.scalar-recording = false
"""


def run() -> dict[str, object]:
    """Deliveries per CPU second of both, and how many times as many ours makes."""
    code = _copy()
    figures: dict[str, object] = {}
    for option, detector in ((2, "none"), (3, "mostefaoui")):
        _ours(detector, 50)  # compiles
        theirs = ours = 0.0
        for _ in range(ROUNDS):
            theirs = max(theirs, _theirs(code, option))
            ours = max(ours, _ours(detector, MESSAGES))
        figures[f"theirs, {detector}: deliveries/CPU-s"] = theirs
        figures[f"ours, {detector}: deliveries/CPU-s"] = ours
        figures["ratio" if option == 2 else f"ratio, {detector}"] = ours / theirs
    return figures


def _copy() -> Path:
    """The folder of their code, built."""
    named = os.environ.get(FOLDER)
    if not named:
        raise UserError(
            f"{FOLDER} names no folder with the authors' programs; docs/lab/authors.md says how to make one"
        )
    code = Path(named) / "ErrorDetectors" / "code"
    if not (code / "src" / "ErrorDetectors").is_file():
        raise UserError(f"no program at {code / 'src' / 'ErrorDetectors'}; docs/lab/authors.md says how to build it")
    return code


def _theirs(code: Path, option: int) -> float:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "data").mkdir()
        for ned in (code / "simulations").glob("*.ned"):
            shutil.copy(ned, folder)
        settings = {"processes": PROCESSES, "last": PROCESSES - 1, "clock": CLOCK, "period": PERIOD_S}
        settings |= {"duration": DURATION_S, "option": option, "node": NODES[option]}
        network = NED.format(**settings)
        (folder / "ErrorDetectorWithRecovery.ned").write_text(network)
        (folder / "omnetpp.ini").write_text(INI.format(**settings))
        began = _children_s()
        command = [str(code / "src" / "ErrorDetectors"), "-f", "omnetpp.ini", "-u", "Cmdenv", "-n", "."]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=600, check=False)
        took_s = _children_s() - began
        file = folder / "data" / "nbDeliveredMessagesFile.dat"
        counts = re.findall(r"\d+", file.read_text()) if file.exists() else []
        if done.returncode or not counts:
            raise RunError(f"the authors' program ended with {done.returncode}: {done.stderr.strip()[-300:]}")
        return float(counts[-1]) / took_s


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _ours(detector: str, messages: int) -> float:
    point = {
        "processes": PROCESSES, "clock_size": CLOCK, "rate": PROCESSES / PERIOD_S, "messages": messages,
        "delay_sd_ms": DELAY_SD_MS, "intervals": "staggered", "entries_draw": "even", "entries": 0,
        "detector": detector,
    }  # fmt: skip
    began = time.process_time()
    found = run_job(Job("hash", point, 1, "inline")).scalars
    return found["deliveries"] / (time.process_time() - began)


if __name__ == "__main__":
    print(run())
