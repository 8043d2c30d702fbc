"""Every pair of OMNeT++ and INET on this machine runs the same studies; each has digests of its own."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from causeway.aio.programs import Main, Programs
from causeway.bridge import engines
from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.omnet import OmnetEngine, inet_adapter_of
from causeway.bridge.events import Act, Actions, Kind, Window
from causeway.errors import UserError
from causeway.pycontrol.loop import run_protocol
from causeway.studies.runner import Job, run_job
from causeway.toolchain.omnet_find import INET_HEADER, Found, find_omnetpp, minor_of, pairs
from tests.helpers.aio_programs import MS_PS, S_PS, in_a_row
from tests.helpers.omnet_pairs import choose

pytestmark = [pytest.mark.omnet]
STORED = Path(__file__).with_name("digests.json")
"""OMNeT++ and INET -> run -> digest. New ones: `python -m tests.omnet.test_pairs`, which overwrites none."""
SMALL = {"hosts": 14, "rate": 4, "duration_s": 5, "drain_s": 5}
RUNS = {
    "unitdisk": {"experiment": "dynamic", "radio": "unitdisk"},
    "csma": {"experiment": "dynamic", "radio": "csma"},
    "acking": {"experiment": "dynamic", "radio": "acking", "rate": 1},
    "wifi": {"experiment": "dynamic", "radio": "wifi"},
    "tcp": {"experiment": "static_tcp", "rate": 1},
    "faults": {"experiment": "faults", "duration_s": 20},
}


@pytest.fixture(params=pairs(), ids=lambda pair: pair.text)
def pair(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Found:
    choose(request.param, monkeypatch)
    return request.param


def digest_of(name: str) -> tuple[str, str]:
    """The engine's version and the digest of a short run of mobile20."""
    outcome = run_job(Job("mobile20", {**SMALL, **RUNS[name]}, 2, "omnet")).outcome
    return outcome.engine_version, outcome.digest


@pytest.mark.parametrize("name", RUNS)
def test_a_pair_gives_its_own_digests(pair: Found, name: str) -> None:
    found = find_omnetpp()
    assert found is not None and (found.root, found.inet_root) == (pair.root, pair.inet_root)
    expected = json.loads(STORED.read_text()).get(pair.text, {})
    version, digest = digest_of(name)
    assert version == pair.text
    if name not in expected:
        pytest.skip(f"no digest is stored for {name} on {pair.text}; it is {digest}")
    assert digest == expected[name]


def test_the_abstract_network_is_the_same_on_every_omnetpp(pair: Found) -> None:
    from tests.omnet.test_abstract import run

    assert run("omnet", "per node").digest == run("inline", "per node").digest


class Watched(Programs):
    """Programs whose streams' events and reads are kept: (time in ps, name)."""

    def __init__(self, main: Main) -> None:
        super().__init__(main)
        self.seen: list[tuple[int, str]] = []

    def on_window(self, window: Window) -> Actions:
        answer = super().on_window(window)
        rows = zip(window.time_ps, window.kind, window.node, strict=True)
        self.seen += [(int(t), Kind(int(kind)).name) for t, kind, node in rows if node == 0]
        rows = zip(answer.time_ps, answer.kind, answer.node, strict=True)
        self.seen += [(int(t), Act(int(kind)).name) for t, kind, node in rows if node == 0]
        return answer


WHILE_UNREAD = {"4.5": True, "4.6": False}
"""Version of INET -> True if its TCP reports the other end's FIN while the program has not read all data before it."""


def test_the_end_of_a_stream_is_reported_at_the_fin_or_when_all_data_before_it_is_read(pair: Found) -> None:
    """INET 4.6 holds its indication back. The program gets the same bytes, and their end a reaction time later."""

    async def main(node: Any) -> Any:
        if node.id == 0:
            read: asyncio.Future[tuple[int, float]] = asyncio.get_running_loop().create_future()

            async def slow(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
                await asyncio.sleep(1 - asyncio.get_running_loop().time())
                data = await reader.read()
                read.set_result((len(data), asyncio.get_running_loop().time()))
                writer.close()

            await asyncio.start_server(slow, port=80, limit=100)
            return await read
        _, writer = await asyncio.open_connection("node0", 80)
        writer.write(bytes(5000))
        writer.close()
        return None

    watched, reaction_ps = Watched(main), MS_PS // 10
    spec = RunSpec("test", {}, 1, in_a_row(2, metres=20), reaction_ps, duration_ps=3 * S_PS)
    run_protocol(OmnetEngine(), spec, watched, [])
    (ended_ps,) = (t for t, name in watched.seen if name == "ENDED")
    last_bytes_ps = max(t for t, name in watched.seen if name == "BYTES")
    last_read_ps = max(t for t, name in watched.seen if name == "READ")
    length, at_s = watched.results[0]
    assert length == 5000 and last_bytes_ps < S_PS / 2 < S_PS + reaction_ps == last_read_ps
    if WHILE_UNREAD[minor_of(pair.inet_version or "")]:
        assert last_bytes_ps <= ended_ps < S_PS / 2 and at_s == 1
    else:
        assert ended_ps == last_read_ps and at_s == ended_ps / S_PS


# ---- refusals, on the real thing ------------------------------------------------------------------------------------


@pytest.fixture
def broken_inet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An INET that passes for one that fits, and with which the adapter does not compile."""
    found = find_omnetpp()
    if found is None:
        pytest.skip("no OMNeT++")
    root = tmp_path / "inet4.5"
    (root / "src" / "inet" / "common").mkdir(parents=True)
    shutil.copy(found.root / "lib" / "liboppcommon.so", root / "src" / "libINET.so")
    (root / INET_HEADER).parent.mkdir()
    (root / INET_HEADER).touch()
    defines = "#define INET_VERSION        0x0405\n#define INET_PATCH_LEVEL    0x09\n"
    (root / "src" / "inet" / "common" / "INETDefs.h").write_text(defines)
    monkeypatch.setenv("OMNETPP_ROOT", str(found.root))
    monkeypatch.setenv("INET_ROOT", str(root))
    return root


def test_an_inet_with_which_the_adapter_does_not_compile_leaves_abstract_networks_alone(broken_inet: Path) -> None:
    """build, doctor and run say the same: the abstract network runs, INET's does not, in one line."""
    engine = OmnetEngine()
    found = find_omnetpp()
    assert found is not None and found.has_inet
    adapter = inet_adapter_of(found)
    try:
        built = causeway("build", "omnet")
        assert built.returncode != 0 and "engine omnet is ready: omnetpp-" in built.stdout
        assert "the INET adapter does not compile" in built.stdout + built.stderr
        doctor = " ".join(causeway("doctor").stdout.replace("│", " ").split())
        assert "ready for abstract networks only" in doctor and "does not compile" in doctor
        from tests.omnet.test_abstract import run

        assert run("omnet", "per node").digest == run("inline", "per node").digest
        job = Job("mobile20", SMALL, 1, "omnet")
        why = engine.missing(job.network())
        assert why is not None and "\n" not in why and "does not compile (see " in why
        with pytest.raises(UserError, match=r"engine omnet cannot run here: the INET adapter for .* does not compile"):
            run_job(job)
        assert engines.get("omnet").missing() is None
    finally:
        shutil.rmtree(adapter.directory, ignore_errors=True)


def causeway(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "causeway.cli.main", *words]
    environment = {**os.environ, "COLUMNS": "1000"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environment)


if __name__ == "__main__":
    known = json.loads(STORED.read_text()) if STORED.exists() else {}
    with pytest.MonkeyPatch.context() as patch:
        for one in pairs():
            choose(one, patch)
            for name in [name for name in RUNS if name not in known.get(one.text, {})]:
                known.setdefault(one.text, {})[name] = digest_of(name)[1]
    STORED.write_text(json.dumps(known, indent=4, sort_keys=True) + "\n")
