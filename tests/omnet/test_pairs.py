"""Every pair of OMNeT++ and INET on this machine runs the same studies; each has digests of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from causeway.bridge import engines
from causeway.bridge.engines.omnet import OmnetEngine, inet_adapter_of
from causeway.errors import UserError
from causeway.studies.runner import Job, run_job
from causeway.toolchain.omnet_find import INET_HEADER, Found, find_omnetpp, pairs
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
