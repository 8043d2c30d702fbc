"""The contract is declared once, in proto/causeway.proto; both sides read it there."""

from __future__ import annotations

import re

import numpy as np
import pytest

from causeway.bridge import engine, events, framing
from causeway.bridge.engines import inline_wheel
from causeway.bridge.events import COLUMNS, EVENT, PAD, ROW, Act, ActionRows, Actions, Kind, Window, no_actions
from causeway.network import networks as network
from causeway.network import random
from causeway.proto import contract as schema
from causeway.proto.contract import pb
from tests.helpers.bridge_tools import TOP

EDGES = [
    path
    for folder in ("bridge/cpp", "omnet/src", "omnet/inet/src", "ns3/src", "tests/helpers/cpp")
    for path in sorted((TOP / folder).iterdir())
    if path.suffix in (".h", ".cc")
]


def test_kinds_and_acts_are_those_of_the_contract() -> None:
    assert {kind.name: int(kind) for kind in Kind} == dict(pb.Kind.Value.items())
    assert {act.name: int(act) for act in Act} == dict(pb.Act.Value.items())
    assert isinstance(Kind.NODE, int) and 1 << Kind.TIMER == 16


@pytest.mark.parametrize("enum", ["Kind", "Act", "Interface"])
def test_every_kind_has_a_description(enum: str) -> None:
    assert set(schema.comments(enum)) == set(getattr(pb, enum).Value.keys())
    assert all(schema.comments(enum).values())


def test_constants_are_those_of_the_contract() -> None:
    assert schema.CONTRACT == 2
    assert (events.TOPICS, events.BROADCAST_PEER, events.IGNORED, events.FOREVER) == (16, -1, -1, 2**63 - 1)
    assert 2 * schema.constant("LATEST_PS") < 2**63
    assert (network.WIRELESS, network.WIRE, network.WIRELESS_TCP) == (0, 1, 2)
    assert random.QUANTILE_BINS == 2**14
    assert engine.STOPPED == "the protocol stopped the run"


def test_the_inline_engines_own_kinds_follow_all_of_the_contracts() -> None:
    """A new kind of the contract must not have the number of an internal kind, such as a packet that is sent."""
    own = [inline_wheel.K_SEND, inline_wheel.K_LEAVE, inline_wheel.K_REACH]
    assert min(own) == max(Kind) + 1 and len(set(own)) == 3


def test_a_window_has_the_columns_of_the_contract() -> None:
    assert EVENT.names == ("kind", "time_ps", "node", "ref", "arg", "z_mm")
    assert set(EVENT.names) < set(Window.__slots__)  # type: ignore[attr-defined]
    assert ROW.names == COLUMNS == (*COLUMNS[:7], "topic")
    assert set(COLUMNS) < set(Actions.__slots__)  # type: ignore[attr-defined]


def test_an_optional_column_without_values_is_left_out_of_the_frame() -> None:
    """A new column therefore does not change the frames of protocols that do not fill it."""
    assert schema.may_lack("Actions") == {"topic"} and schema.may_lack("Window") == {"z_mm"}
    frame = pb.Frame.FromString(framing.encode_actions(1, events.sends(*np.zeros((5, 2), np.int64))))
    assert frame.actions.topic == b"" and len(frame.actions.kind) == 2
    assert framing.actions(frame.actions).topic is None
    assert events.column(framing.actions(frame.actions), "topic").tolist() == [0, 0]


def test_rows_may_end_before_optional_columns() -> None:
    short = ActionRows([(0, 5, 1, 9, -1, 100, 0)])
    assert framing.encode_actions(3, short) == framing.encode_actions(
        3, events.sends(*(np.array([x]) for x in (5, 1, 9, -1, 100)))
    )
    assert [len(pad) for pad in PAD] == [8, 7, 6, 5, 4, 3, 2, 1, 0]


def test_an_answer_whose_columns_differ_in_length_is_no_answer() -> None:
    message = framing.decode(framing.encode_actions(1, no_actions())).actions
    message.node = b"1234"
    with pytest.raises(ValueError, match="column node has 1 rows, not 0"):
        framing.actions(message)


@pytest.mark.parametrize("path", EDGES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_no_adapter_repeats_a_number_or_a_name_of_the_contract(path) -> None:
    text = re.sub(r"//.*", "", path.read_text())
    names = "|".join([*pb.Kind.Value.keys(), *pb.Act.Value.keys(), *pb.Interface.Value.keys(), "kContract", "kTopics"])
    assert not re.search(rf"\b({names})\s*=\s*-?\d", text)
    assert not any(f'"{words}"' in text for words in (engine.NOTHING_LEFT, engine.DURATION_OVER, engine.STOPPED))
