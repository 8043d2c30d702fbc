"""Frames carry columns unchanged, and what is damaged is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from causeway.bridge import framing
from causeway.bridge.engine import Finish
from causeway.bridge.events import ROW, ActionRows, Actions, Lookahead, Window, joined, no_actions
from causeway.errors import RunError
from causeway.network.networks import AbstractNetwork, MobileNetwork, normal_delay
from causeway.network.workload import Segment, Workload
from causeway.proto.contract import CONTRACT, pb, schema_sha256
from tests.helpers.bridge_tools import small_spec


def columns(*dtypes: type) -> st.SearchStrategy:
    return st.integers(0, 20).flatmap(lambda rows: st.tuples(*(hnp.arrays(dtype, rows) for dtype in dtypes)))


WINDOWS = st.builds(
    lambda number, end, reply, high, c: Window(number, end, reply, *c[:5], z_mm=c[5] if high and len(c[5]) else None),
    st.integers(0, 2**64 - 1), st.integers(0, 2**63 - 1), st.booleans(), st.booleans(),
    columns(np.uint8, np.int64, np.int32, np.int64, np.int32, np.int32),
)  # fmt: skip
ACTIONS = st.builds(
    lambda stop, c: Actions(*c, stop=stop), st.booleans(),
    columns(np.uint8, np.int64, np.int32, np.int64, np.int32, np.int32, np.uint8),
)  # fmt: skip


def same(a: object, b: object) -> bool:
    names = set(type(b).__slots__) - {"topic", "z_mm"}  # type: ignore[attr-defined]
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in names)


@given(WINDOWS)
def test_a_window_survives_writing_and_reading(window: Window) -> None:
    found = framing.window(framing.decode(framing.encode_window(window)).window)
    assert same(found, window)
    assert np.array_equal(found.z_mm, window.z_mm) or not len(window)


@given(st.integers(0, 2**64 - 1), ACTIONS)
def test_actions_come_back_as_they_were(number: int, actions: Actions) -> None:
    message = framing.decode(framing.encode_actions(number, actions)).actions
    assert message.number == number
    assert same(framing.actions(message), actions)


I8, I32, I64 = st.integers(0, 255), st.integers(-(2**31), 2**31 - 1), st.integers(-(2**63), 2**63 - 1)
ROWS = st.lists(st.tuples(I8, I64, I32, I64, I32, I32, I8, st.integers(0, 15)), max_size=20)


@given(st.lists(ROWS, min_size=1, max_size=4), st.booleans())
def test_rows_and_columns_are_the_same_answer(parts: list[list[tuple[int, ...]]], stop: bool) -> None:
    """Actions of single nodes are kept as rows; the frames and the observers get the same."""
    rows = [row for part in parts for row in part]
    answer = ActionRows(rows, stop, (Lookahead(1, 2, 3),))
    table = np.array(rows, ROW)
    plain = Actions(
        *(table[name] for name in ROW.names[:7]), stop=stop, topic=table["topic"], lookaheads=answer.lookaheads
    )  # type: ignore
    assert framing.encode_actions(7, answer) == framing.encode_actions(7, plain)
    assert len(answer) == len(rows)
    assert same(joined([ActionRows(part) for part in parts]), Actions(**columns_of(table)))
    assert same(joined([Actions(**columns_of(np.array(part, ROW))) for part in parts]), Actions(**columns_of(table)))


def columns_of(table: np.ndarray) -> dict:
    return {name: table[name] for name in ROW.names[:7]}  # type: ignore[index]


def test_an_empty_answer_is_still_an_answer() -> None:
    assert framing.decode(framing.encode_actions(0, no_actions())).WhichOneof("body") == "actions"


@given(WINDOWS.filter(len), st.sampled_from(["kind", "time_ps", "node", "ref", "arg"]), st.integers(1, 9))
def test_a_window_with_a_short_column_is_refused(window: Window, column: str, missing: int) -> None:
    message = framing.decode(framing.encode_window(window)).window
    whole = getattr(message, column)
    setattr(message, column, whole[: max(0, len(whole) - missing)])
    with pytest.raises(RunError, match=f"window {window.number} is damaged"):
        framing.window(message)


@given(st.binary(max_size=200))
def test_random_bytes_are_refused_or_are_a_frame_and_never_anything_else(data: bytes) -> None:
    try:
        frame = framing.decode(data)
        if frame.WhichOneof("body") == "window":
            framing.window(frame.window)
    except RunError as error:
        assert "\n" not in str(error)


def test_the_setup_holds_the_whole_abstract_network() -> None:
    workload = Workload(5, first_node=2, messages=9, size_bytes=30, segments=(Segment(0, 10.0), Segment(10**12, 0.0)))
    network = AbstractNetwork(
        7, delay=normal_delay(10, 2), workload=workload, loss=0.25, send_ps=1, send_ps_per_byte=2, recv_ps=3
    )
    spec = small_spec(network=network, seed=2**63 + 5, cap=4, passive_kinds=6, channels=("a", "b"), duration_ps=77)
    setup = pb.Frame.FromString(framing.encode_setup(spec)).setup
    assert (setup.contract, setup.schema_sha256) == (CONTRACT, schema_sha256())
    assert (setup.seed, setup.cap, setup.passive_kinds, setup.duration_ps) == (2**63 + 5, 4, 6, 77)
    assert (list(setup.channels), setup.parameters_json) == (["a", "b"], '{"x": 1}')
    abstract = setup.abstract_network
    assert (abstract.nodes, abstract.loss) == (7, 0.25)
    assert (abstract.send_ps, abstract.send_ps_per_byte, abstract.recv_ps) == (1, 2, 3)
    assert np.array_equal(np.frombuffer(abstract.delay_quantiles_ns), network.delay)
    assert np.frombuffer(setup.workload.segment_mean_ns).tolist() == [1e8, 0.0]
    assert (setup.workload.first_node, setup.workload.messages, setup.workload.size_bytes) == (2, 9, 30)


def test_the_setup_holds_the_whole_mobile_network() -> None:
    network = MobileNetwork(
        station_xy_mm=((0, 5), (100, -7)), wires=((0, 1),), hosts=12, workload=Workload(14), cell_radius_mm=1,
        wire_bps=2, wire_delay_ps=3, radio="wifi",
        radio_bps=4, speed_mm_s=5, covered_only=False, position_every_ps=6, host_tcp=True,
        host_xy_mm=((1, -2),) * 12,
    )  # fmt: skip
    mobile = pb.Frame.FromString(framing.encode_setup(small_spec(network=network))).setup.mobile_network
    assert np.frombuffer(mobile.station_y_mm, np.int32).tolist() == [5, -7]
    assert np.frombuffer(mobile.wire_to, np.int32).tolist() == [1]
    assert np.frombuffer(mobile.host_y_mm, np.int32).tolist() == [-2] * 12
    reported = (
        mobile.hosts,
        mobile.cell_radius_mm,
        mobile.wire_bps,
        mobile.wire_delay_ps,
        mobile.radio,
        mobile.radio_bps,
    )
    assert reported == (12, 1, 2, 3, "wifi", 4)
    assert (mobile.speed_mm_s, mobile.covered_only, mobile.position_every_ps, mobile.host_tcp) == (5, False, 6, True)


def test_modules_that_are_nodes_cross_the_wire_and_are_no_measurements() -> None:
    """The modules may be in any order, and may be missing."""
    scalars = {("Net.b", "node"): 1.0, ("Net.a", "node"): 0.0, ("network", "lost"): 3.0}
    frame = framing.decode(framing.encode_finish(Finish("over", 5, 7, scalars)))
    finish = framing.finish(frame.finish)
    assert list(finish.nodes.items()) == [(0, "Net.a"), (1, "Net.b")]
    assert finish.measured == {("network", "lost"): 3.0}
    assert Finish("over", 5, 7).nodes == {}
