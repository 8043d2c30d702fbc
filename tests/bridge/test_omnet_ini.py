"""Warnings about lines of an ini file: the sections in force, includes, settings of the study, and a limit."""

from __future__ import annotations

from pathlib import Path

from causeway.bridge.engines.omnet_ini import MOST_LINES, unused_lines
from causeway.network.networks import AbstractNetwork, InetNetwork

INI = """
*.a = 1
[General]
include more.ini
*.b = 2  # comment
[Config Base]
*.a = 3
[Config Mine]
extends = Base, Second
*.c = "x = y"
[Second]
*.d = 4
[Config Other]
*.a = 5
"""


def warnings(folder: Path, config: str, *keys: str) -> list[str]:
    (folder / "my.ini").write_text(INI)
    (folder / "more.ini").write_text("*.e = 1\n[Config Other]\n*.f = 1\n")
    network = InetNetwork(3, ini=str(folder / "my.ini"), config=config)
    found = unused_lines(network, {"set": {"*.g": "1"}}, keys)
    return [warning.replace(" matches no parameter of the network, so that it has no effect", "") for warning in found]


def test_lines_are_named_with_their_places_in_the_sections_in_force(tmp_path: Path) -> None:
    assert warnings(tmp_path, "Mine", "*.a") == ["my.ini:2: *.a", "my.ini:7: *.a"]
    assert warnings(tmp_path, "Other", "*.a", "*.c") == ["my.ini:2: *.a", "my.ini:14: *.a"]
    assert warnings(tmp_path, "Mine", "*.c", "*.d", "*.e") == ["my.ini:10: *.c", "my.ini:12: *.d", "more.ini:1: *.e"]
    assert warnings(tmp_path, "Other", "*.f", "*.b") == ["more.ini:3: *.f", "my.ini:5: *.b"]


def test_settings_of_the_study_are_named_and_ours_are_not(tmp_path: Path) -> None:
    assert warnings(tmp_path, "Mine", "*.g", "**.sameTransmissionStartTimeCheck") == ["setting *.g"]
    assert unused_lines(AbstractNetwork(3), {}, ["*.g"]) == []


def test_few_of_many_lines_are_named(tmp_path: Path) -> None:
    *named, rest = warnings(tmp_path, "Mine", "*.a", "*.b", "*.c", "*.d")
    assert len(named) == MOST_LINES
    assert rest == "2 more lines of my.ini match no parameter, my.ini:10: *.c among them"


def test_a_line_that_only_carries_a_parameter_of_the_study_has_an_effect(tmp_path: Path) -> None:
    (tmp_path / "my.ini").write_text("*.x = ${nodes = 10, 20}\n*.y = 2 * ${ loss= 1, 2 ! nodes }\n*.z = ${nodes}\n")
    network = InetNetwork(3, ini=str(tmp_path / "my.ini"))
    found = unused_lines(network, {}, ["*.x", "*.y", "*.z"], {"nodes"})
    assert [warning.split()[1] for warning in found] == ["*.y", "*.z"]
