"""A kind of event, of action, or a column is added in three places: the proto, the code that fills and that reads it.

A copy of the tree gets one more kind of event (BELL), one more kind of action (RING) and a column of actions
(`loudness`). Nothing else of it is changed but an adapter, which reads the action and its column and fills the event;
the protocol that fills the one and reads the other is below.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from causeway.bridge.events import Act, Kind
from tests.helpers.bridge_tools import TOP, build_cpp

COPIED = (
    "aio", "analysis", "bridge", "causeway", "cli", "explore", "network", "ns3", "omnet", "proto", "pycontrol",
    "studies", "toolchain",
)  # fmt: skip
IN_THE_PROTO = {
    "    BROADCAST = 5;\n": f"    BROADCAST = 5;\n    BELL = {max(Kind) + 1};  // A bell rings. ref: how loud.\n",
    "    RECORD = 4 ": f"    RING = {max(Act) + 1};  // Rings a bell at `time_ps`.\n    RECORD = 4 ",
    "  bytes topic = 10 ": (
        '  bytes loudness = 40 [(column) = {type: "i4", table: "actions", may_lack: true}];\n  bytes topic = 10 '
    ),
}
WHERE_THE_EDGE_READS_IT = {
    "    int64_t ref;\n": "    int64_t ref;\n    int32_t loudness;\n",
    "                at<int64_t>(a.ref(), i)};": "                at<int64_t>(a.ref(), i),\n"
    "                a.loudness().empty() ? 0 : at<int32_t>(a.loudness(), i)};",
}
WHERE_THE_EDGE_FILLS_IT = {
    "if (a.kind == Act::SET_TIMER) queue.push({a.time_ps, Kind::TIMER, a.node, a.ref});": (
        "if (a.kind == Act::RING) queue.push({a.time_ps, Kind::BELL, a.node, a.loudness});"
    )
}
PROTOCOL = """
import sys
import numpy as np
from causeway.bridge.engine import RunSpec
from causeway.bridge.events import Act, Actions, Kind, no_actions
from causeway.network.networks import AbstractNetwork, constant_delay
from causeway.bridge.session import open_session
from causeway.network.workload import Workload
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.protocol import Protocol

L_PS = 1_000_000


class Ringer(Protocol):
    heard = 0

    def on_window(self, window):
        bells = window.kind == Kind.BELL
        self.heard += int(window.ref[bells].sum())
        if window.number > 0:
            return no_actions()
        two = np.zeros(2, np.int32)
        return Actions(
            np.full(2, Act.RING, np.uint8), np.array([L_PS, 2 * L_PS]), two + 1, np.zeros(2, np.int64), two, two,
            np.zeros(2, np.uint8), loudness=np.array([30, 12], np.int32),
        )

    def scalars(self):
        return {"heard": float(self.heard)}


class Bells:
    name, networks = "bells", (AbstractNetwork,)

    def open(self, spec):
        return open_session(spec, "ticker", [sys.argv[1]])


network = AbstractNetwork(3, delay=constant_delay(1.0))
spec = RunSpec("bells", {}, 1, network, L_PS, deadline_s=20.0, cap=int(sys.argv[2]))
outcome = run_protocol(Bells(), spec, Ringer(), [])
print(int(outcome.scalars["heard"]), outcome.events)
"""


def changed(path: Path, changes: dict[str, str]) -> None:
    text = path.read_text()
    for old, new in changes.items():
        assert text.count(old) == 1, f"{path.name}: {old}"
        text = text.replace(old, new)
    path.write_text(text)


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    build_cpp("ticker")  # skips where no adapter can be built
    top = tmp_path_factory.mktemp("tree")
    for name in COPIED:
        shutil.copytree(TOP / name, top / name, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    changed(top / "proto/causeway.proto", IN_THE_PROTO)
    changed(top / "bridge/cpp/client.h", WHERE_THE_EDGE_READS_IT)
    (top / "adapters").mkdir()
    shutil.copy(TOP / "tests/helpers/cpp/ticker.cc", top / "adapters/bells.cc")
    changed(top / "adapters/bells.cc", WHERE_THE_EDGE_FILLS_IT)
    subprocess.run([sys.executable, "proto/generate.py"], cwd=top, check=True)
    make = [
        "make",
        "-s",
        "-C",
        str(top / "bridge/cpp"),
        "program",
        "SOURCE=adapters/bells.cc",
        "CXXFLAGS=-std=c++17 -O0",
    ]
    subprocess.run(make, check=True)
    return top


@pytest.mark.slow
@pytest.mark.parametrize("cap", [0, 1])
def test_a_new_kind_of_event_a_new_kind_of_action_and_a_new_column_touch_three_places(tree: Path, cap: int) -> None:
    """The protocol rings twice, 30 and 12 loud; the adapter rings its bells at those times; the protocol hears both."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "NUMBA_DISABLE_JIT": "1"}
    command = [sys.executable, "-c", PROTOCOL, str(tree / "build/programs/bells"), str(cap)]
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
    assert done.stdout.split() == ["42", "2"]
