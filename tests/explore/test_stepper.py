"""A counterexample is a file: it is followed again, forwards, backwards, by hand."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from random import Random

import pytest
from rich.console import Console

from causeway.cli.check import Search, check_study
from causeway.cli.replay import replay_example
from causeway.errors import UserError
from causeway.explore.model import LATE_CLOCKS, Model
from causeway.explore.stepper import COPY_EVENTS, Stepper
from causeway.pycontrol.frozen import frozen
from causeway.studies.trial import Trial

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
CAUSAL, FLOOD = str(EXAMPLES / "textbook" / "causal_broadcast.py"), str(EXAMPLES / "flood.py")
QUIET = Console(quiet=True)


@pytest.fixture(scope="module", params=[0, 10_000], ids=["made up", "every order"])
def example(request, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("check")
    search = Search(500, 60.0, request.param, False, 1)
    assert check_study(Trial(CAUSAL, {"version": "careless"}), search, folder, QUIET)
    return folder / "causal_broadcast.json"


def state_of(stepper: Stepper) -> object:
    return frozen([{k: v for k, v in vars(node).items() if k != "runtime"} for node in stepper.model.nodes])


def state_of_all(model: Model) -> list[str]:
    return [
        repr(sorted((k, str(v)) for k, v in vars(node).items() if not hasattr(v, "__dict__"))) for node in model.nodes
    ]


def test_a_stored_counterexample_is_replayed_as_stored(example: Path) -> None:
    assert not replay_example(example, QUIET, CAUSAL, False)
    kept = json.loads(example.read_text())
    kept["trial"]["settings"]["version"] = "right"
    other = example.with_name("other.json")
    other.write_text(json.dumps(kept))
    assert replay_example(other, QUIET, CAUSAL, False), "the mended protocol does not break"


def test_a_counterexample_never_selects_the_code_to_run(example: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--study"):
        replay_example(example, QUIET, None, False)
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(UserError, match="not a counterexample"):
        replay_example(tmp_path / "bad.json", QUIET, None, False)


def test_the_conditions_of_a_counterexample_are_restored_or_requested(tmp_path: Path) -> None:
    rules = {"always": ("len(nodes[0].heard) < 1",), "at_end": ("sum(len(n.heard) for n in nodes) < 9",)}
    assert check_study(
        Trial(FLOOD, {"processes": 2}, ("once",), **rules), Search(500, 60.0, 0, False, 1), tmp_path, QUIET
    )
    with pytest.raises(UserError) as reported:
        replay_example(tmp_path / "flood.json", QUIET, FLOOD, False, at_end=rules["at_end"])
    assert str(reported.value).endswith(
        f"causeway replay {tmp_path}/flood.json --study {FLOOD} --always 'len(nodes[0].heard) < 1' "
        "--at-end 'sum(len(n.heard) for n in nodes) < 9'"
    )
    assert not replay_example(tmp_path / "flood.json", QUIET, FLOOD, False, **rules), "it breaks as it did"


def test_conditions_in_a_file_are_never_run(tmp_path: Path, example: Path) -> None:
    kept = json.loads(example.read_text())
    kept["trial"]["always"] = [f"open({str(tmp_path / 'made')!r}, 'w')"]
    (tmp_path / "evil.json").write_text(json.dumps(kept))
    with pytest.raises(UserError, match="code and are not read from the file"):
        replay_example(tmp_path / "evil.json", QUIET, CAUSAL, False)
    assert not (tmp_path / "made").exists()


BEATS = """
from causeway import EVERYONE, MS_PS, Budget, Checks, Node, ModelStudy


class Member(Node):
    # sends for ever, and follows the first that it hears

    def on_start(self):
        self.beats, self.leader = 0, 0 if self.id == 0 else -1
        self.set_timer("beat", 1000 * MS_PS)

    def on_timer(self, key):
        self.beats += 1
        self.send(EVERYONE, ("alive", self.beats), 10)
        self.set_timer("beat", 1000 * MS_PS)

    def on_packet(self, content, sender, interface):
        if sender == 0 and content[1] == 1:
            self.leader = 0


def agreed(model):
    followers = [node.id for node in model.nodes if node.leader != 0]
    return f"agreement: nodes {followers} follow nobody" if followers else None


class Beats(ModelStudy):
    name, title = "beats", "a lost packet is never made up for"
    versions = {"right": Member}
    model_checks = Checks(at_end={"agreed": agreed}, nodes=2, budget=Budget(broadcasts=0, losses=1))
"""


@pytest.mark.parametrize("every", [0, pytest.param(100_000, marks=pytest.mark.slow)], ids=["made up", "every order"])
def test_a_missing_delivery_in_an_endless_protocol_is_reported_in_few_lines(every: int, tmp_path: Path) -> None:
    file, text = tmp_path / "beats.py", io.StringIO()
    file.write_text(BEATS)
    trial = Trial(str(file), clocks=LATE_CLOCKS if every else "", every=bool(every))
    assert check_study(trial, Search(500, 60.0, every, False, 1), tmp_path, Console(file=text, width=300))
    lines = text.getvalue().splitlines()
    assert "packet 0 from node 0 is lost" in text.getvalue() and len(lines) < 30
    assert any(re.fullmatch(r" +and so on: \d,\d+ more lines of these kinds", line) for line in lines)
    assert lines[-2] == "broken agreement: nodes [1] follow nobody"
    assert len(json.loads((tmp_path / "beats.json").read_text())["plan"]) <= 2
    page = (tmp_path / "beats.html").read_text()
    assert len(page) < 20_000 and "events that repeat are left out" in page
    again = io.StringIO()
    assert not replay_example(tmp_path / "beats.json", Console(file=again, width=300), str(file), False)
    assert again.getvalue().splitlines()[:-1] == lines[2:-2]


def test_a_step_backwards_restores_the_earlier_state(example: Path) -> None:
    kept = json.loads(example.read_text())
    trial = Trial(**{**kept["trial"], "properties": ()})
    stepper, states = Stepper(trial.make, kept["plan"], trial.rules()), []
    while True:
        states.append(state_of(stepper))
        if not stepper.forward():
            break
    assert stepper.broken == kept["broken"]
    for at in (len(states) - 2, 1, 0, len(states) - 1):
        stepper.to(at)
        assert state_of(stepper) == states[at]


def test_the_interactive_stepper_answers_commands(example: Path) -> None:
    kept = json.loads(example.read_text())
    trial = Trial(**{**kept["trial"], "properties": ()})
    said, asked = [], iter(["n", "p nodes[0].id", "p nonsense", "b", "g 99", "what", "q"])
    stepper = Stepper(trial.make, kept["plan"], trial.rules())
    stepper.interact(lambda prompt: next(asked), said.append)
    assert "broadcasts message 0" in said[1] and said[2] == "0" and said[3].startswith("NameError")
    assert kept["broken"] in said[5]


def test_a_step_backwards_in_a_long_order_goes_through_a_few_events_again(monkeypatch: pytest.MonkeyPatch) -> None:
    trial, random = Trial("mobile20"), Random(1)
    stepper = Stepper(trial.make, [random.randrange(1000) for _ in range(400)], trial.rules())

    def state() -> object:
        model = stepper.model
        return len(model.log), repr(model.flying), repr(sorted(model.timers.items(), key=repr)), state_of_all(model)

    states = [state()]
    while stepper.forward():
        states.append(state())
    assert len(states) > 4 * COPY_EVENTS
    happened: list[object] = []
    real = Model._do
    monkeypatch.setattr(Model, "_do", lambda model, *choice: (happened.append(choice), real(model, *choice))[1])
    for event in (len(states) - 2, 3 * COPY_EVENTS, 2 * COPY_EVENTS - 1, 1, 0):
        happened.clear()
        stepper.to(event)
        assert stepper.at == event and len(happened) < COPY_EVENTS
        assert states[event] == state()
