"""An exhaustive search is no proof for nodes that use the values of message ids: it numbers messages in its own way."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.helpers import talking
from tests.helpers.command import causeway_here as causeway_here

PACKETS = {
    "the first message is taken for none": "if self.id != 2 or content[0]: self.deliver(content[0])",
    "one id is treated in another way": "if self.id != 2 or content[0] != 1: self.deliver(content[0])",
}


@pytest.mark.parametrize("options", [[], ["--whole"]], ids=["reduced", "whole"])
@pytest.mark.parametrize("packet", PACKETS)
def test_a_violation_that_depends_on_the_value_of_an_id_is_found(
    packet: str, options: list[str], tmp_path: Path, causeway_here: Any
) -> None:
    """The search visited "all of them" and found nothing, since node 2 itself broadcast the message with this id."""
    path = talking.write(tmp_path, PACKET=PACKETS[packet])
    done = causeway_here(
        "check", path, "--property", "arrives", "--broadcasts", "2", "--every", "20000", *options, "--out", "found"
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "broken everything arrives: node 2 never delivers message" in done.stdout, done.stdout
    assert ", all of them" not in done.stdout and "not deterministic" not in done.stdout
    again = causeway_here("replay", "found/talk.json", "--study", path)
    assert again.returncode == 0, again.stdout + again.stderr


def test_nodes_that_use_ids_as_names_only_are_searched_completely(tmp_path: Path, causeway_here: Any) -> None:
    done = causeway_here(
        "check", talking.write(tmp_path), "--property", "arrives", "--broadcasts", "2", "--every", "20000"
    )
    assert done.returncode == 0 and ", all of them" in done.stdout, done.stdout + done.stderr
