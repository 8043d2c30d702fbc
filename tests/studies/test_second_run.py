"""Errors of a run: inputs other than its seed, and changes of its process."""

from __future__ import annotations

import os
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest

from causeway.errors import RunError
from causeway.studies import campaign, second_run
from causeway.studies.runner import Job, run_job
from tests.helpers import talking


@pytest.fixture(autouse=True)
def nothing_checked_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget earlier checks, since studies with equal text have equal code."""
    monkeypatch.setattr(second_run, "_found", {})


def run(folder: Path, points: list[dict[str, bool]] | None = None, reps: int = 1, **parts: str) -> campaign.Tally:
    jobs = campaign.plan(talking.write(folder, **parts), "inline", points or [{}], 1, reps)
    return campaign.run_here(jobs, folder / "out", lambda _: None)


def test_a_right_study_runs(tmp_path: Path) -> None:
    tally = run(tmp_path)
    assert (tally.done, tally.failed) == (1, {})


def test_changes_that_a_run_leaves_in_a_module_are_found(tmp_path: Path) -> None:
    left = "RUNS.append(1); self.send(EVERYONE, (message,), 10 + len(RUNS))"
    tally = run(tmp_path, BROADCAST=left)
    assert tally.done == 0
    assert "study talk is not deterministic: seed 1 gave digest" in next(iter(tally.failed.values()))


def test_recorded_values_are_compared_too(tmp_path: Path) -> None:
    """A count over all nodes and runs is in no digest, and would continue with the next seed."""
    tally = run(tmp_path, reps=2, BROADCAST="RUNS.append(1); self.record('said', len(RUNS))")
    assert tally.done == 0
    assert "seed 1 recorded different samples of said of node[" in next(iter(tally.failed.values()))


def test_scalars_are_compared_too(tmp_path: Path) -> None:
    counts = "self.__class__.scalars = lambda self, params, found: {**found, 'runs': RUNS.append(1) or len(RUNS)}"
    assert "seed 1 gave runs=1, and 2 when" in next(iter(run(tmp_path, NETWORK=counts).failed.values()))


@pytest.mark.parametrize(
    "left", ["RUNS.append(1); self.send(EVERYONE, (message,), 10 + len(RUNS))",
             "self.send(EVERYONE, (message, self.clock), 10); self.clock[0] += 1"],
)  # fmt: skip
def test_no_later_run_of_a_refused_code_is_committed(left: str, tmp_path: Path) -> None:
    """Its numbers would depend on the runs before it in the process, and thus on the number of jobs."""
    tally = run(tmp_path, reps=3, BROADCAST=left)
    assert (tally.done, len(tally.failed)) == (0, 3)


LATER = "RUNS.append(1); self.send(EVERYONE, (message,), 10 + len(RUNS) * (self.runtime.context.seed > 3))"


def test_one_run_in_a_while_is_checked_after_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first run is right, and so are those of seeds up to 3."""
    monkeypatch.setattr(second_run, "ONE_IN", 4)
    tally = run(tmp_path, reps=16, BROADCAST=LATER)
    jobs = campaign.plan(str(tmp_path / "talk.py"), "inline", [{}], 1, 16)
    drawn = [job.seed for job in jobs if job.seed > 3 and second_run.is_drawn(job.run_id)]
    assert drawn, "the id holds a digest of the sources: with none of 13 in four this would prove nothing"
    assert sorted(tally.failed) == sorted(job.run_id for job in jobs if job.seed >= drawn[0])
    assert "earlier runs of this code in the result folder may be wrong" in next(iter(tally.failed.values()))


@pytest.mark.parametrize(("events", "checked"), [(second_run.SHORT_EVENTS, True), (second_run.SHORT_EVENTS + 1, False)])
def test_a_short_run_is_defined_by_events_not_by_the_clock(events: int, checked: bool, tmp_path: Path) -> None:
    left = "RUNS.append(1); self.send(EVERYONE, (message,), 10 + len(RUNS))"
    job = Job(talking.write(tmp_path, BROADCAST=left), {}, 1, "inline")
    result = run_job(job)
    result = replace(result, outcome=replace(result.outcome, wall_s=3600.0, events=events))
    with pytest.raises(RunError, match="is not deterministic") if checked else nullcontext():
        second_run.checked(job, result)


def test_a_clock_that_cannot_be_replaced_is_found(tmp_path: Path) -> None:
    real = "import datetime; self.send(EVERYONE, (message,), datetime.datetime.now().microsecond)"
    assert "is not deterministic" in next(iter(run(tmp_path, BROADCAST=real).failed.values()))


CHANGED = {
    "by its sender, later": {
        "BROADCAST": "self.send(EVERYONE, (message, self.clock), 10); self.set_timer('t', MS_PS)",
        "TIMER": "self.clock[0] += 1",
        "expected": "in on_timer(key='t'): Talker.on_timer (talk.py:",
        "attribute": "(Talker.clock)",
    },
    "by its sender, at once": {
        "BROADCAST": "self.send(EVERYONE, (message, self.clock), 10); self.clock[0] += 1",
        "expected": "in on_broadcast(",
        "attribute": "(Talker.clock)",
    },
    "by a receiver": {
        "BROADCAST": "self.send(EVERYONE, [message], 10)",
        "PACKET": "self.deliver(content[0]); content.append(1)",
        "expected": "in on_packet(content=",
        "attribute": "Talker.on_packet (talk.py:",
    },
    "by a receiver, of what the sender keeps": {
        "BROADCAST": "self.news = [message]; self.send((self.id + 1) % 3, self.news, 10)",
        "PACKET": "content.append(1)",
        "expected": "in on_packet(content=",
        "attribute": "Talker.on_packet (talk.py:",
    },
}


@pytest.mark.parametrize("who", CHANGED)
def test_a_content_that_is_changed_after_it_was_sent_is_found(who: str, tmp_path: Path) -> None:
    parts = {name: code for name, code in CHANGED[who].items() if name in talking.RIGHT}
    tally = run(tmp_path, **parts)
    assert tally.done == 0
    reported = next(iter(tally.failed.values()))
    assert reported.startswith("node ")
    assert CHANGED[who]["expected"] in reported and CHANGED[who]["attribute"] in reported
    assert "send a copy, or change a copy of the received content" in reported


def test_contents_that_no_other_node_has_may_be_changed(tmp_path: Path) -> None:
    parts = {
        "BROADCAST": "self.send((self.id + 1) % 3, [message], 10)",
        "PACKET": "content.append(1); self.clock = content; self.set_timer('t', MS_PS)",
        "TIMER": "self.clock.append(2)",
    }
    assert run(tmp_path, **parts).failed == {}


@pytest.mark.parametrize(
    ("code", "reported"),
    [
        ("sys.exit(0) if params.exits else None", "study talk: sys.exit(0) would end the command"),
        ("os.chdir('/') if params.exits else None", "study talk: os.chdir('/') would change the meaning"),
        ("exec('raise KeyboardInterrupt') if params.exits else None", "study talk: KeyboardInterrupt would end the"),
        ("exec('raise GeneratorExit') if params.exits else None", "study talk: GeneratorExit would end the command"),
    ],
)
def test_a_run_whose_study_exits_fails_alone(code: str, reported: str, tmp_path: Path) -> None:
    folder = os.getcwd()
    tally = run(tmp_path, [{"exits": True}, {"exits": False}], NETWORK=code)
    assert tally.done == 1
    assert next(iter(tally.failed.values())).startswith(reported)
    assert os.getcwd() == folder


def test_a_handler_that_ends_its_process_fails_alone(tmp_path: Path) -> None:
    for code in ("sys.exit(0)", "os._exit(0)", "os.chdir('/')", "exec('raise KeyboardInterrupt')"):
        folder = tmp_path / str(abs(hash(code)))
        folder.mkdir()
        reported = next(iter(run(folder, PACKET=code).failed.values()))
        assert reported.startswith("node ") and "in on_packet(content=" in reported
