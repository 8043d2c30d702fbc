"""`causeway check` finds nodes that change a content after they sent or received it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from tests.helpers import talking
from tests.helpers.command import causeway_here as causeway_here

CHANGED = {
    "the classic mistake with vector clocks": {
        "BROADCAST": "self.send(EVERYONE, (message, self.clock), 10); self.clock[0] += 1",
        "expected": "Talker.on_broadcast (talk.py:", "attribute": "(Talker.clock)",
    },
    "by its sender, and something else breaks then": {
        "BROADCAST": "self.news = [message]; self.send(EVERYONE, self.news, 10); self.news[0] += 1",
        "expected": "Talker.on_broadcast (talk.py:", "attribute": "(Talker.news)",
    },
    "by its sender, later": {
        "BROADCAST": "self.send(EVERYONE, (message, self.clock), 10); self.set_timer('t', MS_PS)",
        "TIMER": "self.clock[0] += 1",
        "expected": "Talker.on_timer (talk.py:", "attribute": "(Talker.clock)",
    },
    "by a receiver": {
        "BROADCAST": "self.send(EVERYONE, [message], 10)", "PACKET": "self.deliver(content[0]); content.append(1)",
        "expected": "Talker.on_packet (talk.py:", "attribute": "",
    },
    "by a receiver, of what the sender keeps": {
        "BROADCAST": "self.news = [message]; self.send((self.id + 1) % self.node_count, self.news, 10)",
        "PACKET": "self.deliver(content[0]); content.append(1)",
        "expected": "Talker.on_packet (talk.py:", "attribute": "",
    },
}  # fmt: skip
ORDERS = {"made up": [], "every": ["--every", "20000"]}


@pytest.mark.parametrize("orders", ORDERS)
@pytest.mark.parametrize("who", CHANGED)
def test_a_content_that_is_changed_after_it_was_sent_is_found(
    who: str, orders: str, tmp_path: Path, causeway_here: Any
) -> None:
    path = talking.write(tmp_path, **{name: code for name, code in CHANGED[who].items() if name in talking.RIGHT})
    options = ["--property", "once", "--broadcasts", "2"]
    done = causeway_here("check", path, *options, *ORDERS[orders], "--out", "found")
    assert done.returncode == 1, done.stdout + done.stderr
    assert re.search(r"changed the content that node \d sent at 0.00\d+ s", done.stdout), done.stdout
    assert CHANGED[who]["expected"] in done.stdout and CHANGED[who]["attribute"] in done.stdout
    assert "broken an error: node" in done.stdout and "not deterministic" not in done.stdout
    again = causeway_here("replay", "found/talk.json", "--study", path)
    assert again.returncode == 0, again.stdout + again.stderr
    assert "changed the content that node" in again.stdout


@pytest.mark.parametrize("orders", ORDERS)
def test_contents_that_no_other_node_has_may_be_changed(orders: str, tmp_path: Path, causeway_here: Any) -> None:
    parts = {
        "BROADCAST": "self.send((self.id + 1) % self.node_count, [message], 10)",
        "PACKET": "self.deliver(content[0]); content.append(1); self.clock = content; self.set_timer('t', MS_PS)",
        "TIMER": "self.clock.append(2)",
    }
    path = talking.write(tmp_path, **parts)
    options = ["--property", "once", "--broadcasts", "2", "--tries", "200"]
    done = causeway_here("check", path, *options, *ORDERS[orders], "--out", "found")
    assert (done.returncode, "no violation found" in done.stdout) == (0, True), done.stdout + done.stderr


def test_a_packet_to_a_node_that_does_not_exist_is_an_error_of_its_line(tmp_path: Path, causeway_here: Any) -> None:
    path = talking.write(tmp_path, BROADCAST="self.send(7, message, 10)")
    for orders in ORDERS.values():
        done = causeway_here("check", path, "--broadcasts", "1", *orders)
        assert done.returncode == 1
        assert "raises Misuse: send was given peer=7" in done.stdout and "(talk.py:" in done.stdout
