"""The how-to pages on INET's own examples and on Simu5G: their files run as they are and print what the page says."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

import causeway as cw
from causeway.analysis.convert import pandas_tables
from causeway.bridge.engine import RunSpec
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.node import PerNode
from causeway.toolchain.omnet_find import minor_of
from tests.helpers.inet_probe import ENGINE, needs_inet
from tests.helpers.omnetpp_tools import need_inet, need_simu5g, version_of_inet

pytestmark = needs_inet
PAGES = Path(__file__).parents[2] / "docs" / "how-to"
FILE = re.compile(r"^```\w+ title=\"([^\"]+)\"\n(.*?)^```$", re.MULTILINE | re.DOTALL)
OUTPUT = re.compile(r"^<!-- output: .+ -->\n\n    \$ python (.+)\n((?:    .*\n)+)", re.MULTILINE)


def write_files(page: str, folder: Path) -> str:
    """Write the files that a page shows into a folder beside one called inet; return the page's text."""
    text = (PAGES / page).read_text()
    (folder / "inet").symlink_to(need_inet())
    (folder / "mine").mkdir()
    for name, content in FILE.findall(text):
        (folder / "mine" / name).write_text(content)
    return text


def run_program(arguments: str, folder: Path) -> str:
    """Run one of the page's programs; return what it prints."""
    command = [sys.executable, *arguments.split()]
    done = subprocess.run(command, cwd=folder / "mine", capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize("page", ["vanet.md", "battery.md", "tsn.md"])
def test_a_page_on_an_example_of_inet_prints_what_it_says(page: str, tmp_path: Path) -> None:
    """Equal numbers on INET 4.5 and 4.6; the showcase of TSN counts in femtoseconds from 4.6 on."""
    version = version_of_inet()
    if page == "tsn.md" and minor_of(version) == "4.5":
        pytest.skip("the showcase of INET 4.5 counts in picoseconds")
    outputs = OUTPUT.findall(write_files(page, tmp_path))
    assert outputs
    for arguments, shown in outputs:
        expected = "".join(f"{line[4:]}\n" for line in shown.splitlines())
        assert run_program(arguments, tmp_path) == expected


# ---- Simu5G ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def phones(tmp_path: Path) -> Path:
    """The files of the page on 5G, beside Simu5G."""
    (tmp_path / "simu5g").symlink_to(need_simu5g())
    write_files("5g.md", tmp_path)
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        ("5G", "5G: 1596 datagrams, 1596 arrived; 266 of 266 deliveries"),
        ("5G everyone", "5G: 38 datagrams, 0 arrived; 38 of 266 deliveries"),
    ],
)
def test_a_gossip_on_phones_reaches_all_by_unicast_and_nobody_by_broadcast(
    arguments: str, printed: str, phones: Path
) -> None:
    assert run_program(f"gossip.py {arguments}", phones).splitlines()[0] == printed


@pytest.mark.slow
def test_nothing_is_lost_while_phones_are_handed_over(phones: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Simu5G's own vectors tell that every phone was handed over from cell 1 to cell 2."""
    monkeypatch.chdir(phones / "mine")
    relay = runpy.run_path("relay.py")["Relay"]
    network = cw.InetNetwork(
        5, ini="cells.ini", config="Handover", hosts="**.ue[*] **.server", workload=cw.poisson(50, messages=150),
        models=("simu5g",),
    )  # fmt: skip
    vectors = {"**.nrHandoverController.servingCell*.vector-recording": "true", "**.vector-recording": "false"}
    options = {"results": "results", "result_name": "cells", "set": vectors}
    spec = RunSpec("test", {}, 1, network, int(cw.ms(1)), int(cw.seconds(4.5)), options=options)
    scalars = run_protocol(ENGINE, spec, PerNode(lambda _: relay()), []).finish.scalars
    assert scalars["network", "datagrams"] == scalars["network", "arrived"] == 600
    tables = pandas_tables([Path("results/cells.vec")])
    serving = tables["samples"].merge(tables["vectors"], on=["run_id", "vector_id"])
    serving = serving[serving.module.str.endswith("nrHandoverController") & serving.name.str.startswith("servingCell")]
    assert serving.groupby("module").value.apply(list).tolist() == [[1, 2]] * 4
