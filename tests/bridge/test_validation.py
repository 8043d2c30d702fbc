"""The rules of actions and runs are declared once: compiled checks, messages and adapters refuse the same rows."""

from __future__ import annotations

import dataclasses
import itertools
import struct
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.bridge import framing
from causeway.bridge.engine import RunSpec
from causeway.bridge.events import COLUMNS, EVENT, PAD, ROW, Act, ActionRows, Lookahead, Window
from causeway.bridge.validation import LIMITS, bounds, rule_of_field, rules_of_action, rules_of_table
from causeway.bridge.validation_frames import FrameValidator
from causeway.bridge.validation_spec import check_spec
from causeway.errors import RunError, UserError
from causeway.network.networks import AbstractNetwork, InetNetwork, MobileNetwork, constant_delay
from causeway.network.workload import Workload
from causeway.proto.contract import pb
from tests.helpers.bridge_tools import build_cpp, small_spec
from tests.helpers.drawn import examples

END_PS = 1000
NETWORKS: dict[str, Any] = {
    "abstract": AbstractNetwork(3, delay=constant_delay(1.0), workload=Workload(3)),
    "mobile": MobileNetwork(station_xy_mm=((0, 0), (5, 5)), wires=((0, 1),), hosts=2, workload=Workload(4)),
    "inet": InetNetwork(3, ini="x.ini", workload=Workload(3)),
}
SOUND = (
    (int(Act.SET_TIMER), END_PS, 0, 0, *PAD[4]),
    (int(Act.CONNECT), END_PS, 1, 0, 2, 80, 2, 0),
)
"""The timer and the connection that rows may be about."""
ODD = (-2, -1, 0, 1, 2, 3, 4, 15, 16, 80, 999, 1000, 65535, 65536, 2**31 - 1, -(2**31), 2**62 - 1, 2**62, 2**63 - 1)


@pytest.fixture(scope="module")
def verdicts() -> Path:
    return build_cpp("verdicts")


def numbers(name: str) -> st.SearchStrategy[int]:
    limits = np.iinfo(ROW[name])
    within = [number for number in ODD if limits.min <= number <= limits.max]
    small = st.integers(max(-1, int(limits.min)), 4)
    return small | small | st.sampled_from(within) | st.integers(int(limits.min), int(limits.max))


def sound(row: tuple[int, ...]) -> bool:
    """True if only the rules of the contract apply, since the adapter does not know which timers are set."""
    return row[0] != Act.CANCEL_TIMER or row[3] == 0


ROWS = st.tuples(
    st.sampled_from([int(act) for act in Act] * 3 + [99]), *(numbers(name) for name in COLUMNS[1:])
).filter(sound)  # fmt: skip
TEMPLATES = ((END_PS, 1, 1, 2, 80, 1, 0), (END_PS, 2, 0, 1, 1, 2, 3), (END_PS, 2, 1, 0, 443, 1, 0))


@st.composite
def nearly_sound(draw: Any) -> tuple[int, ...]:
    """Draw a row in which one number is odd."""
    row = [int(draw(st.sampled_from(list(Act)))), *draw(st.sampled_from(TEMPLATES))]
    place = draw(st.integers(1, len(COLUMNS) - 1))
    row[place] = draw(numbers(COLUMNS[place]))
    return tuple(row)


PROMISES = st.builds(
    Lookahead, st.sampled_from([-1, 0, 2, 3, 4, 2**31 - 1]), st.sampled_from([0, 1, 15, 16, 255]),
    st.sampled_from([-(2**63), -2, -1, 0, 5, 2**63 - 1]),
)  # fmt: skip


def spec_of(network: str) -> RunSpec:
    return small_spec(network=NETWORKS[network], channels=("x", "y"))


def answers_of(network: str, rows: list[tuple[int, ...]], lookaheads: list[Lookahead]) -> list[ActionRows]:
    """Return one answer for each row, and one for each promise."""
    before = SOUND if network == "mobile" else SOUND[:1]
    return [
        *(ActionRows([*before, row]) for row in rows),
        *(ActionRows([], lookaheads=(promise,)) for promise in lookaheads),
    ]


def controller_refusal(network: str, answer: ActionRows) -> str:
    """Return why the controller refuses the answer; "" if it does not."""
    validator = FrameValidator(spec_of(network))
    none = {name: np.empty(0, EVENT[name]) for name in EVENT.names or ()}
    first, second = (Window(number, end_ps, True, **none) for number, end_ps in ((0, 0), (1, END_PS)))
    validator.check_window(first)
    validator.check_window(second)
    try:
        validator.check_actions(answer, second)
    except RunError as error:
        return str(error)
    return ""


def adapter_refusal(verdicts: Path, network: str, answers: list[ActionRows]) -> list[str]:
    """Return why the adapter refuses each answer; "" if it does not."""
    return adapter_refusals(verdicts, network, [framing.encode_actions(1, answer) for answer in answers])


def adapter_refusals(verdicts: Path, network: str, frames: list[bytes]) -> list[str]:
    """Return why the adapter refuses each frame; "" if it does not."""
    frames = [framing.encode_setup(spec_of(network)), *frames]
    given = b"".join(struct.pack("<I", len(frame)) + frame for frame in frames)
    done = subprocess.run([verdicts, str(END_PS)], input=given, capture_output=True, timeout=60, check=True)
    return done.stdout.decode().split("\n")[:-1]


@settings(max_examples=examples(60))
@given(
    network=st.sampled_from(sorted(NETWORKS)),
    rows=st.lists(ROWS | nearly_sound().filter(sound), min_size=5, max_size=40),
    lookaheads=st.lists(PROMISES, max_size=5),
)
def test_the_compiled_check_the_messages_and_the_adapter_agree(
    verdicts: Path, network: str, rows: list[tuple[int, ...]], lookaheads: list[Lookahead]
) -> None:
    assert disagreements(verdicts, network, answers_of(network, rows, lookaheads)) == []


def disagreements(verdicts: Path, network: str, answers: list[ActionRows]) -> list[tuple[ActionRows, str, str]]:
    """Return the answers that only one side refuses, or each for another reason, with both messages."""
    adapter, found = adapter_refusal(verdicts, network, answers), []
    for answer, there in zip(answers, adapter, strict=True):
        here = controller_refusal(network, answer)
        reason = here.removeprefix("the answer to window 1 is wrong: ").split("): ", 1)[-1]
        if not there.endswith(reason) or bool(there) != bool(here):
            found.append((answer, here, there))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("network", sorted(NETWORKS))
def test_they_agree_about_every_column_of_every_action_at_every_bound(verdicts: Path, network: str) -> None:
    rows = set()
    for act, template, place in itertools.product(Act, TEMPLATES, range(1, len(COLUMNS))):
        limits = np.iinfo(ROW[COLUMNS[place]])
        for value in ODD:
            if limits.min <= value <= limits.max:
                rows.add((int(act), *template[: place - 1], value, *template[place:]))
    assert disagreements(verdicts, network, answers_of(network, sorted(filter(sound, rows)), [])) == []


def test_some_drawn_rows_are_refused_and_some_accepted(verdicts: Path) -> None:
    """Without this, the test above would show nothing."""
    sound_rows = [(int(act), END_PS, 2, 0, 0, 80, 1, 0) for act in Act if act != Act.CONNECT]
    reported = adapter_refusal(verdicts, "mobile", answers_of("mobile", sound_rows, [Lookahead(0, 1, 5)]))
    assert reported == [""] * (len(sound_rows) + 1)
    bad = [(*row[:2], 4, *row[3:]) for row in sound_rows]
    reported = adapter_refusal(verdicts, "mobile", answers_of("mobile", bad, [Lookahead(4, 1, 5)]))
    assert all("node 4; allowed: 0 to 3" in one for one in reported), reported


def test_every_rule_has_an_operand_and_a_message() -> None:
    held = dict.fromkeys((*COLUMNS, *LIMITS, "patient_node", "patient_topic", "patience_ps"), 3)
    rules = [rule for act in Act for rule in rules_of_action(int(act))] + [*rules_of_table("Actions", "promises")]
    for rule in rules:
        assert "{" not in rule.words(held) and "; allowed: " in rule.words(held)


def test_services_of_nodes_check_the_same_bounds() -> None:
    assert bounds(Act.SEND, "peer", nodes=7) == (-1, 6)
    assert bounds(Act.SEND, "size_bytes") == (0, 2**31 - 1)
    assert bounds(Act.MOVE, "size_bytes") == (1, 2**31 - 1)
    assert bounds(Act.SEND, "topic") == (0, 15)


RUNS = {"AbstractNetwork": "abstract", "MobileNetwork": "mobile", "OwnNetwork": "inet"}
OUTER = {"Setup": "", "Workload": "workload"} | {
    name: name.replace("Network", "_network").lower() for name in ("AbstractNetwork", "MobileNetwork", "OwnNetwork")
}
FIELDS = [
    (message, field.name)
    for message in OUTER
    for field in getattr(pb, message).DESCRIPTOR.fields
    if field.GetOptions().HasExtension(pb.rule) and not field.GetOptions().HasExtension(pb.column)
]


@pytest.mark.parametrize(("message", "field"), FIELDS)
def test_a_field_of_a_runs_description_has_one_bound_on_both_sides(verdicts: Path, message: str, field: str) -> None:
    network = RUNS.get(message, "abstract")
    silent = dataclasses.replace(NETWORKS[network], workload=Workload(0))
    spec, rule = small_spec(network=silent), rule_of_field(message, field)
    held = {"nodes": spec.network.nodes}
    least, most = rule.least.value(held), rule.most.value(held)
    frames, broken = [], []
    for value in (least - 1, least, most, most + 1):
        frame = pb.Frame.FromString(framing.encode_setup(spec))
        try:
            setattr(getattr(frame.setup, OUTER[message]) if OUTER[message] else frame.setup, field, value)
        except ValueError:
            continue  # the field's type has no room for it
        frames.append(frame.SerializeToString())
        broken.append(not least <= value <= most)
    reported = adapter_refusals(verdicts, network, frames)
    assert any(broken) and not all(broken)
    assert [one.startswith(f"{rule.wrong} is ") for one in reported] == broken, reported


@pytest.mark.parametrize("field", ["send_ps", "send_ps_per_byte", "recv_ps", "loss"])
@pytest.mark.parametrize("beyond", [False, True])
def test_a_study_is_refused_at_the_bound_of_the_contract(field: str, beyond: bool) -> None:
    rule = rule_of_field("AbstractNetwork", field)
    network = dataclasses.replace(NETWORKS["abstract"], **{field: rule.most.value({}) + beyond})
    if not beyond:
        return check_spec(small_spec(network=network))
    with pytest.raises(UserError, match=f"{rule.wrong} is "):
        check_spec(small_spec(network=network))
