"""The explanation of a violation by a second run: the message, its copies, the losses and their places."""

from __future__ import annotations

import io
import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from causeway.bridge import engines
from causeway.cli import explain
from causeway.cli.run import RunOptions, run_study
from causeway.errors import UserError
from causeway.explore import shiviz, spacetime
from causeway.explore.model import Event
from causeway.explore.witness import NEVER, ORDER, TWICE, Witness
from causeway.pycontrol.checker import CausalityChecker
from causeway.pycontrol.contents import messages_in
from causeway.pycontrol.protocol import BROADCAST, DELIVER, JOINED, LEFT
from causeway.studies.runner import Job
from tests.helpers.edits import edited

TOP = Path(__file__).resolve().parents[2]
FLOOD = str(TOP / "examples" / "flood.py")
QUIET = Console(quiet=True)


def flood(**settings: object) -> Job:
    return Job(FLOOD, {"processes": 5, "messages": 40, **settings}, 1, "inline")


@pytest.fixture(scope="module")
def evidence() -> explain.Evidence:
    return explain.look(flood(loss=0.3), None, 3)


def test_the_witness_sees_the_violations_that_the_checker_counts() -> None:
    random = np.random.default_rng(3)
    nodes, rows, messages = 6, [], 0
    for _ in range(3000):
        node, what = int(random.integers(nodes)), random.random()
        if what < 0.2:
            rows.append((BROADCAST, node, messages))
            messages += 1
        elif what < 0.23:
            rows.append((LEFT if random.random() < 0.5 else JOINED, node, -1))
        elif messages:
            rows.append((DELIVER, node, int(max(0, messages - 1 - random.integers(20)))))
    checker, witness = CausalityChecker(nodes), Witness(nodes, wanted=10**9)
    columns = [np.array([row[i] for row in rows]) for i in range(3)]
    given = columns[0].astype(np.uint8), np.arange(len(rows)), columns[1].astype(np.int32), columns[2].astype(np.int64)
    checker.observe(*given)
    witness.observe(*given)
    counted = [int(time) for time in np.flatnonzero(checker.last_violating)]
    # the checker also counts what was delivered though not owed (and twice): those rows are not compared
    owed = [v.time_ps for v in witness.violations if v.what == ORDER]
    assert set(owed) & set(counted)
    assert sum(v.what == TWICE for v in witness.violations) >= checker.scalars()["duplicates"]
    before = len(witness.violations)
    witness.at_end(10**6)
    assert len(witness.violations) - before == checker.scalars()["missing"]


def test_the_first_violation_is_reported_with_the_missing_copies_of_the_message(evidence) -> None:
    found = evidence.chains[0]
    assert found.violation.what == ORDER
    late, node = found.violation.before, found.violation.node
    broadcast = next(e for e in found.events if e.what == "broadcast" and e.number == late)
    delivered = next(e for e in found.events if e.what == "delivered" and e.node == node)
    assert broadcast.time_ps < delivered.time_ps == found.violation.time_ps
    assert found.wanted and {e.text for e in found.events if e.number in found.wanted and e.what == "sent"} == {
        str(late)
    }
    assert not any(
        e.what == "packet" and e.node == node and e.number in found.wanted and e.time_ps <= found.violation.time_ps
        for e in found.events
    ), "else it would not be late"


def test_a_lost_copy_is_named_and_crossed() -> None:
    found = explain.look(flood(loss=0.7), None, 20)
    never = [one for one in found.chains if one.violation.what in (ORDER, NEVER)]
    crossed = [
        one for one in never if any(e.what == "loss" and e.node == one.violation.node for e in one.events)
    ]  # fmt: skip
    assert crossed
    page = spacetime.page(explain.drawn(crossed[0], "a title"))
    assert "is lost" in page and page.count('class="lost"') >= 1


WRAPPED = ("self.send(cw.EVERYONE, message, 100)", "self.send(cw.EVERYONE, {'what': message}, 100)")
UNWRAPPED = ("message not in self.heard:\n            self.take(message)",
             "message['what'] not in self.heard:\n            self.take(message['what'])")  # fmt: skip
NAMING = """

class Naming(cw.PerNode):
    def about(self, content):
        return {content["what"]}, ()
"""


def test_packets_without_a_message_are_reported_as_left_out_until_about_names_them(tmp_path: Path) -> None:
    file, text = tmp_path / "wrapped.py", edited(Path(FLOOD).read_text(), WRAPPED, UNWRAPPED)
    file.write_text(text)
    said = io.StringIO()
    (found,) = explain.look(Job(str(file), {"processes": 5, "messages": 40}, 1, "inline"), None, 1).chains
    explain.print_chain(found, "one", "a title", tmp_path, Console(file=said, width=300), True)
    assert not any(event.what == "sent" for event in found.events) and found.unnamed["dict"] > 5
    assert re.search(
        r"left out: packets whose contents name no message \(\d+ dict; the first is {'what': \d+}\); .*"
        r"override PerNode.about\(content\)", said.getvalue(),
    )  # fmt: skip
    file.write_text(edited(text, ("return cw.PerNode(", "return Naming(")) + NAMING)
    (named,) = explain.look(Job(str(file), {"processes": 5, "messages": 40}, 1, "inline"), None, 1).chains
    assert not named.unnamed and any(event.what == "sent" for event in named.events)


def test_a_recording_reports_the_same_as_the_run(tmp_path: Path, evidence) -> None:
    lossy = ["processes=5", "messages=40", "loss=0.3"]
    run_study(RunOptions(FLOOD, "inline", lossy, out_dir=tmp_path, record=True), QUIET)
    (recording,) = (tmp_path / "recordings").glob("*.frames")
    job, path = explain.find(str(recording), tmp_path, FLOOD)
    assert path == recording
    again = explain.look(job, path, 3)
    assert [c.events for c in again.chains] == [c.events for c in evidence.chains]


def test_a_run_of_a_folder_is_found_and_its_pages_are_written(tmp_path: Path) -> None:
    run_study(RunOptions(FLOOD, "inline", ["processes=5", "messages=40"], out_dir=tmp_path), QUIET)
    with pytest.raises(UserError, match="--study"):
        explain.find(str(tmp_path), tmp_path, None)
    assert explain.explain(str(tmp_path), tmp_path, FLOOD, 2, tmp_path / "pages", QUIET)
    assert len(list((tmp_path / "pages").glob("*.html"))) == 2
    page = next((tmp_path / "pages").glob("*.html")).read_text()
    assert "http" not in page.replace("http://www.w3.org/2000/svg", ""), "it needs nothing but itself"


def test_a_run_without_fault_has_nothing_to_explain(tmp_path: Path) -> None:
    assert explain.look(flood(causal=True, loss=0.0), None, 3).chains == ()
    with pytest.raises(UserError, match="no run"):
        explain.find("nothing", tmp_path, None)


def test_the_log_for_shiviz_has_a_clock_with_every_event_that_grows_along_packets(evidence) -> None:
    found = evidence.chains[0]
    lines = shiviz.log(found.events, explain.describe_chain(found), found.names).splitlines()
    assert len(lines) == 2 * len(found.events)
    clocks = []
    for event, line in zip(found.events, lines[1::2], strict=True):
        host, clock = re.fullmatch(r"(\S*) ({.*})", line).groups()
        clocks.append((event, host, json.loads(clock)))
    for event, host, clock in clocks:
        sent = next((c for e, h, c in clocks if e.what == "sent" and e.number == event.number), None)
        if event.what == "packet" and sent is not None:
            assert all(clock[name] >= count for name, count in sent.items()) and clock[host] >= 1


def test_messages_are_found_in_contents() -> None:
    class Thing:
        message, number = 3, "four"

    assert messages_in(7) == {7}
    assert messages_in([Thing(), ("x", Thing())]) == {3}
    assert messages_in("text") == set()


BROKEN = str(TOP / "tests" / "helpers" / "broken_handoff_small.py")
ON_THE_AIR = [
    pytest.param(name, marks=[mark, pytest.mark.skipif(engines.get(name).missing() is not None, reason=f"no {name}")])
    for name, mark in (("omnet", pytest.mark.omnet), ("ns3", pytest.mark.ns3))
]


@pytest.mark.slow
@pytest.mark.parametrize("engine", ON_THE_AIR)
def test_a_broken_handoff_on_a_simulator_is_drawn_with_its_messages_and_the_copies_that_did_not_count(
    engine: str,
) -> None:
    job = Job(BROKEN, {"rate": 60.0, "duration_s": 15}, 1, engine)
    found = explain.look(job, None, 40).chains
    assert found
    kinds, crosses = [], []
    for one in found:
        page = spacetime.diagram(explain.drawn(one, "a title"))
        kinds.append(
            {word for word in ("Init", "Req1", "Rsp1", "Req2", "Rsp2", "InitACK") if f">{word}</text>" in page}
        )
        crosses.append(("lost" in page, "untaken" in page))
    assert all(len(words) == 6 for words in kinds[:1]), "the handoff"
    assert all(lost or untaken for lost, untaken in crosses), "a copy that did not count"


def lines_of(story: spacetime.Story) -> list[spacetime.Shape]:
    return [one for one in spacetime._drawing(story)["shapes"] if one.kind == "line" and one.says]


def test_a_vectorized_protocol_has_arrows_from_broadcasts_to_deliveries_and_a_dashed_one_to_the_missing_delivery() -> (
    None
):
    job = Job("dcs23", {"processes": 100, "entries": 20, "rate": 400.0, "load": "constant"}, 1, "inline")
    found = explain.look(job, None, 1).chains[0]
    assert not any(event.what == "sent" for event in found.events), "no packet is known"
    late, wrong = found.violation.before, found.violation.message
    story = explain.drawn(found, "a title")
    said = {line.says: line for line in lines_of(story)}
    to = f"its delivery by node {found.violation.node}"
    assert {f"message {late}: from its broadcast to {to}", f"message {wrong}: from its broadcast to {to}"} <= set(said)
    (missing,) = [line for line in said.values() if line.dashes]
    assert missing.says == f"message {late} should have been delivered here"
    early, delivered = (
        said[f"message {wrong}: from its broadcast to {to}"],
        said[f"message {late}: from its broadcast to {to}"],
    )
    assert (missing.x, missing.y) == (delivered.x, delivered.y), "from the same broadcast"
    assert early.x2 - 20 < missing.x2 < early.x2 < delivered.x2, "where the other message came instead, before its own"


def test_time_is_to_scale_and_has_round_ticks() -> None:
    log = [Event(t * 10**9, "broadcast", 0, t, -1, "") for t in (13, 14, 53, 93)]
    story = spacetime.Story(log, {0: "a", 1: "b"}, "t", "broken", [""] * 4, timed=True)
    shapes = spacetime._drawing(story)["shapes"]
    first, second, third, last = [one.x for one in shapes if one.kind == "dot"]
    assert (third - first) / (last - first) == pytest.approx(0.5, abs=0.01) and second - first < 15
    ticks = {one.text: one.x for one in shapes if one.kind == "text" and one.text.endswith(" s")}
    assert list(ticks) == [f"0.0{n} s" for n in range(2, 10)]
    assert first < ticks["0.02 s"] < third < ticks["0.08 s"] < last
    words = {one.text: one.y for one in shapes if one.kind == "text" and one.text[0] == "b"}
    assert words["b14"] < words["b13"] == words["b53"], "neighbours' words do not overlap"


def test_the_path_names_the_messages_between_the_missing_one_and_the_wrong_one() -> None:
    witness = Witness(4)
    rows = [
        (BROADCAST, 1, 0, 0), (DELIVER, 2, 0, 0), (DELIVER, 3, 1, 0), (BROADCAST, 4, 1, 1), (DELIVER, 5, 2, 1),
        (BROADCAST, 6, 2, 2), (DELIVER, 7, 2, 0), (DELIVER, 8, 3, 2),
    ]  # fmt: skip
    witness.observe(*(np.array(column) for column in zip(*rows, strict=True)))
    first = witness.violations[0]
    assert (first.node, first.message, first.before) == (2, 1, 0) and witness.path(0, 1) == (0, 1)
    assert witness.path(0, 2) == (0, 1, 2), "node 2 delivered message 0 too late to have known it"


def test_an_arrived_copy_that_is_not_delivered_has_a_cross() -> None:
    log = [
        Event(0, "broadcast", 0, 0, -1, ""), Event(1, "sent", 0, 7, -1, "0"), Event(2, "packet", 1, 7, 0, "0"),
        Event(3, "sent", 0, 8, -1, "0"), Event(4, "packet", 1, 8, 0, "0"), Event(4, "delivered", 1, 0, -1, ""),
    ]  # fmt: skip
    story = spacetime.Story(
        log, {0: "a", 1: "b"}, "t", "broken", [""] * 6, frozenset({0}), frozenset({7, 8}), 1, timed=True
    )
    assert spacetime.diagram(story).count('class="untaken"') == 1
    others = [event._replace(node=1 - event.node) for event in log]
    assert 'class="untaken"' not in spacetime.diagram(replace(story, log=others)), "only where it was waited for"
