"""The how-to pages on INET's own examples and on Simu5G: their files run as they are and print what the page says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from causeway.toolchain.omnet_find import minor_of
from tests.helpers.inet_probe import needs_inet
from tests.helpers.omnetpp_tools import need_inet, version_of_inet

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
