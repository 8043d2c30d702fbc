"""An adapter that is loaded into another OMNeT++ or INET than its own says so, before anything crashes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from causeway.bridge.engines.omnet import INET_LIBRARY, LIBRARY, adapter_of, inet_adapter_of, loadable
from causeway.toolchain.adapters import build
from causeway.toolchain.omnet_find import Found, find_omnetpp, pairs
from tests.helpers.inet_probe import needs_inet

pytestmark = needs_inet


def load(pair: Found, folder: Path, *libraries: str) -> subprocess.CompletedProcess[str]:
    """Start a simulation of a pair that loads these libraries, in an empty folder."""
    (folder / "omnetpp.ini").write_text("[General]\nnetwork = Nothing\n")
    command = [str(pair.opp_run), "-u", "Cmdenv", *(part for library in libraries for part in ("-l", library))]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=120)


def test_an_adapter_for_another_omnetpp_refuses_to_be_loaded(tmp_path: Path) -> None:
    there = pairs()
    if len({pair.root for pair in there}) < 2:
        pytest.skip("one OMNeT++ with INET is here; the test needs two")
    for own in there:
        build(adapter_of(own))
        for other in (pair for pair in there if pair.root != own.root):
            done = load(other, tmp_path, loadable(own, LIBRARY))
            assert done.returncode == 1 and done.stderr.splitlines()[-1] == (
                f"causeway: this adapter was built for the OMNeT++ in {own.root}, and the simulation runs on that in "
                f"{other.root}: load the one that `causeway attach --omnetpp {other.root}` prints"
            )


def test_an_adapter_for_another_inet_refuses_to_be_loaded(tmp_path: Path) -> None:
    """The other INET is a copy: without the check, the process ends when both have registered their classes."""
    found = find_omnetpp()
    assert found is not None and found.inet_root is not None
    build(inet_adapter_of(found))
    copy = tmp_path / "copy" / "src" / "libINET.so"
    copy.parent.mkdir(parents=True)
    shutil.copy(found.inet_root / "src" / "libINET.so", copy)
    done = load(found, tmp_path, str(copy.with_name("INET")), loadable(found, INET_LIBRARY))
    assert done.returncode == 1
    last = done.stderr.splitlines()[-1]
    assert last.startswith("causeway: this adapter was built for the INET in ") and "uses the other one" in last
    assert str(tmp_path / "copy") in last and str(found.inet_root.resolve()) in last


def test_its_own_pair_loads_it(tmp_path: Path) -> None:
    found = find_omnetpp()
    assert found is not None and found.inet_root is not None
    own = (loadable(found, LIBRARY), str(found.inet_root / "src" / "INET"), loadable(found, INET_LIBRARY))
    assert "causeway: this adapter" not in load(found, tmp_path, *own).stderr
