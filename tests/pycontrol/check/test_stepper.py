"""A counterexample is a file: it is followed again, forwards, backwards, by hand."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import pytest
from rich.console import Console

from causeway.bridge.errors import UserError
from causeway.cli.check import Search, check_study
from causeway.cli.replay import replay_example
from causeway.pycontrol.check.frozen import frozen
from causeway.pycontrol.check.stepper import COPY_EVENTS, Stepper
from causeway.pycontrol.check.world import World
from causeway.studies.trial import Trial

CAUSAL = str(Path(__file__).resolve().parents[3] / "examples" / "textbook" / "causal_broadcast.py")
QUIET = Console(quiet=True)


@pytest.fixture(scope="module", params=[0, 10_000], ids=["made up", "every order"])
def example(request, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("check")
    search = Search(500, 60.0, request.param, False, 1)
    assert check_study(Trial(CAUSAL, {"version": "careless"}), search, folder, QUIET)
    return folder / "causal_broadcast.json"


def state_of(stepper: Stepper) -> object:
    return frozen([{k: v for k, v in vars(node).items() if k != "host"} for node in stepper.world.nodes])


def state_of_all(world: World) -> list[str]:
    return [
        repr(sorted((k, str(v)) for k, v in vars(node).items() if not hasattr(v, "__dict__"))) for node in world.nodes
    ]


def test_a_counterexample_comes_out_as_it_was_kept(example: Path) -> None:
    assert not replay_example(example, QUIET, CAUSAL, False)
    kept = json.loads(example.read_text())
    kept["trial"]["settings"]["version"] = "right"
    other = example.with_name("other.json")
    other.write_text(json.dumps(kept))
    assert replay_example(other, QUIET, CAUSAL, False), "the mended protocol does not break"


def test_a_file_never_says_which_code_is_run(example: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--study"):
        replay_example(example, QUIET, None, False)
    (tmp_path / "bad.json").write_text("{}")
    with pytest.raises(UserError, match="no counterexample"):
        replay_example(tmp_path / "bad.json", QUIET, None, False)


def test_backwards_is_where_it_was_before(example: Path) -> None:
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


def test_by_hand_it_answers_what_it_is_asked(example: Path) -> None:
    kept = json.loads(example.read_text())
    trial = Trial(**{**kept["trial"], "properties": ()})
    said, asked = [], iter(["n", "p nodes[0].id", "p nonsense", "b", "g 99", "what", "q"])
    stepper = Stepper(trial.make, kept["plan"], trial.rules())
    stepper.talk(lambda prompt: next(asked), said.append)
    assert "broadcasts message 0" in said[1] and said[2] == "0" and said[3].startswith("NameError")
    assert kept["broken"] in said[5]


def test_a_step_backwards_in_a_long_order_goes_through_a_few_events_again(monkeypatch: pytest.MonkeyPatch) -> None:
    trial, random = Trial("mobile20"), Random(1)
    stepper = Stepper(trial.make, [random.randrange(1000) for _ in range(400)], trial.rules())

    def state() -> object:
        world = stepper.world
        return len(world.log), repr(world.flying), repr(sorted(world.timers.items(), key=repr)), state_of_all(world)

    states = [state()]
    while stepper.forward():
        states.append(state())
    assert len(states) > 4 * COPY_EVENTS
    happened: list[object] = []
    real = World._do
    monkeypatch.setattr(World, "_do", lambda world, *choice: (happened.append(choice), real(world, *choice))[1])
    for event in (len(states) - 2, 3 * COPY_EVENTS, 2 * COPY_EVENTS - 1, 1, 0):
        happened.clear()
        stepper.to(event)
        assert stepper.at == event and len(happened) < COPY_EVENTS
        assert states[event] == state()
