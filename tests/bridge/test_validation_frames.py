"""Invalid windows and answers are refused, with their row and the allowed values."""

from __future__ import annotations

import dataclasses
import functools
import re
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

from causeway.bridge import validation_kernel
from causeway.bridge.events import COLUMNS, Act, ActionRows, Actions, Kind, Lookahead, Window, sends
from causeway.bridge.id_ranges import Ranges
from causeway.bridge.validation_frames import SEND, SET_TIMER, FrameValidator
from causeway.bridge.validation_kernel import KEPT
from causeway.errors import RunError
from causeway.network.networks import MobileNetwork
from causeway.network.workload import Workload
from tests.helpers.bridge_tools import small_spec

TYPES = (np.uint8, np.int64, np.int32, np.int64, np.int32)
ROW = (int(Act.SEND), 1000, 1, 0, 2, 10, 0, 0)


def window(*rows: tuple[int, ...], number: int = 1, end_ps: int = 1000) -> Window:
    """Return a window of rows (kind, time_ps, node, ref, arg)."""
    columns = zip(*rows, strict=True) if rows else [()] * 5
    return Window(number, end_ps, True, *(np.array(c, t) for c, t in zip(columns, TYPES, strict=True)))


def validator(packets: int = 0, timers: int = 0, **changes: Any) -> FrameValidator:
    """Return the validator of a run of three nodes after window 0, in which so many packets and timers were made."""
    made = FrameValidator(small_spec(**changes))
    first = window(number=0, end_ps=0)
    made.check_window(first)
    rows = [(int(Act.SEND), 1, 0, i, -1, 0, 0, 0) for i in range(packets)]
    rows += [(int(Act.SET_TIMER), 1, 2, i, 0, 0, 0, 0) for i in range(timers)]
    made.check_actions(ActionRows(rows), first)
    return made


GOOD = [
    (Kind.NODE, 5, 0, 0, 1),
    (Kind.ARRIVAL, 5, 1, 0, 0),
    (Kind.LOST, 5, -1, 1, 2),
    (Kind.TIMER, 5, 2, 0, 0),
    (Kind.BROADCAST, 5, 0, 1, 100),
    (Kind.BROADCAST, 5, 1, 0, 100),
    (Kind.BROADCAST, 6, 0, 2, 0),
]


def test_a_good_window_crosses() -> None:
    validator(packets=2, timers=1).check_window(window(*GOOD))


@pytest.mark.parametrize(
    ("row", "reported"),
    [
        ((77, 5, 0, 0, 0), "kind 77 is unknown; allowed: 0 NODE, 1 STATION, 2 ARRIVAL"),
        ((Kind.ARRIVAL, 7, -3, 0, 0), "there is no node -3; allowed: 0 to 2"),
        ((Kind.ARRIVAL, 7, -1, 0, 0), "there is no node -1; allowed: 0 to 2"),
        ((Kind.LOST, 7, -2, 0, 0), "there is no node -2; allowed: -1 to 2"),
        ((Kind.TIMER, 7, 3, 0, 0), "there is no node 3; allowed: 0 to 2"),
        (
            (Kind.ARRIVAL, 1000, 0, 0, 0),
            "1000 ps is outside the window; allowed: 0 ps, where the one before it",
        ),
        ((Kind.ARRIVAL, 4, 0, 0, 0), "it comes after (BROADCAST at 6 ps, node 0, ref 2, arg 0); allowed: in order of"),
        ((Kind.NODE, 6, 0, 0, 0), "it comes after (BROADCAST at 6 ps"),
        ((Kind.ARRIVAL, 7, 0, 2, 0), "the controller never sent packet 2; allowed: ids that it sent"),
        ((Kind.ARRIVAL, 7, 0, -1, 0), "the controller never sent packet -1"),
        ((Kind.LOST, 7, 0, 1 << 40, 0), "the controller never sent packet 1099511627776"),
        ((Kind.TIMER, 7, 0, 1, 0), "the controller never set timer 1; allowed: ids that it set"),
        ((Kind.ARRIVAL, 7, 0, 0, 3), "there is no interface 3; allowed: 0 to 2"),
        ((Kind.ARRIVAL, 7, 0, 0, -1), "there is no interface -1; allowed: 0 to 2"),
        ((Kind.STATION, 7, 0, 0, 3), "there is no station 3; allowed: -1 (none) to 2"),
        ((Kind.NODE, 7, 0, 0, 2), "2 is neither up nor down; allowed: 1 (up) or 0 (down)"),
        ((Kind.BROADCAST, 7, 0, 2, 0), "broadcast 2 comes too late or a second time; allowed: 3 and up"),
        ((Kind.BROADCAST, 6, 1, 2, 0), "broadcast 2 comes a second time; allowed: each number once"),
        ((Kind.BROADCAST, 7, 0, 3, -1), "a broadcast of -1 bytes; allowed: 0 to 2147483647"),
    ],
)
def test_a_bad_row_is_reported_with_the_allowed_values(row: tuple[int, ...], reported: str) -> None:
    with pytest.raises(RunError) as error:
        validator(packets=2, timers=1).check_window(window(*GOOD, row))
    assert str(error.value).startswith("window 1 is wrong: row 7 (")
    assert reported in str(error.value)


def _sent(how: str) -> FrameValidator:
    """Packet 0 is for node 1, packet 1 for all; timer 0 is of node 2."""
    made = FrameValidator(small_spec())
    first = window(number=0, end_ps=0)
    made.check_window(first)
    rows = [(SEND, 1, 0, 0, 1, 5, 0, 0), (SEND, 1, 0, 1, -1, 5, 0, 0), (SET_TIMER, 1, 2, 0, 0, 0, 0, 0)]
    actions = ActionRows(rows)
    made.check_actions(actions if how == "rows" else Actions(*(getattr(actions, name) for name in COLUMNS[:7])), first)
    return made


@pytest.mark.parametrize("how", ["rows", "columns"])
@pytest.mark.parametrize("among", [(), ((Kind.BROADCAST, 7, 0, 0, 0),)])
@pytest.mark.parametrize(
    ("row", "reported"),
    [
        ((Kind.ARRIVAL, 6, 2, 0, 0), "packet 0 was sent to node 1; allowed: node 1"),
        ((Kind.ARRIVAL, 6, 0, 0, 0), "packet 0 was sent to node 1; allowed: node 1"),
        ((Kind.TIMER, 6, 1, 0, 0), "timer 0 was set by node 2; allowed: node 2"),
    ],
)
def test_a_packet_arrives_where_it_was_sent_and_a_timer_where_it_was_set(how, among, row, reported) -> None:
    everywhere = [(Kind.ARRIVAL, 5, node, 1, 0) for node in range(3)]
    _sent(how).check_window(window(*everywhere, (Kind.ARRIVAL, 6, 1, 0, 0), (Kind.TIMER, 6, 2, 0, 0), *among))
    with pytest.raises(RunError, match=reported):
        _sent(how).check_window(window(*everywhere, row, *among))


def test_an_id_of_two_nodes_has_no_owner() -> None:
    made = _sent("columns")
    one = np.ones(2, np.int32)
    made.check_actions(sends(np.full(2, 2000), one, np.zeros(2, np.int64), np.array([2, 0], np.int32), one), window())
    made.check_window(window(*((Kind.ARRIVAL, 5, node, 0, 0) for node in range(3))))


def test_of_many_packets_the_owners_of_the_last_are_known() -> None:
    made = _sent("columns")
    rows = 3 * KEPT
    ids, peers = np.arange(2, 2 + rows), np.full(rows, 2, np.int32)
    made.check_actions(sends(np.full(rows, 2000), peers * 0, ids, peers, peers), window())
    made.check_window(window((Kind.ARRIVAL, 5, 2, 0, 0)))  # too long ago
    with pytest.raises(RunError, match=f"packet {rows} was sent to node 2"):
        made.check_window(window((Kind.ARRIVAL, 1000, 1, rows, 0), number=2, end_ps=2000))


@pytest.mark.parametrize("seed", range(20))
def test_windows_of_arrivals_only_are_validated_like_all_others(seed: int) -> None:
    """The kernel handles such windows separately; a broadcast at the end makes it use the general code."""
    draw = np.random.default_rng(seed)
    rows = int(draw.integers(1, 40))
    times = np.sort(draw.integers(0, 12, rows))
    table = sorted((int(t), int(draw.integers(3)), int(draw.integers(4))) for t in times)
    bad_at = int(draw.integers(rows))
    for change in range(8):
        time, node, ref = table[bad_at]
        row = [int(Kind.ARRIVAL), time, node, ref, 0]
        if change < 5:
            place = [1, 1, 2, 3, 4][change]
            row[place] = [max(0, time - 5), time + 5, 3, 4, 3][change]
        all_rows = [(int(Kind.ARRIVAL), t, n, r, 0) for t, n, r in table]
        all_rows[bad_at] = tuple(row)
        said = []
        for more in ((), ((int(Kind.BROADCAST), 99, 0, 0, 0),)):
            try:
                validator(packets=4).check_window(window(*all_rows, *more))
                said.append("good")
            except RunError as error:
                said.append(str(error))
        assert said[0] == said[1]


def test_the_workload_ends_the_numbers_of_broadcasts() -> None:
    spec = small_spec()
    few = dataclasses.replace(spec.network, workload=Workload(3, messages=2))
    with pytest.raises(RunError, match=r"the workload has no broadcast 2; allowed: up to 1"):
        validator(network=few).check_window(window((Kind.BROADCAST, 5, 0, 2, 0)))


def test_a_mobile_host_is_near_a_station_or_none() -> None:
    mobile = MobileNetwork(station_xy_mm=((0, 0), (5, 5)), wires=(), hosts=2, workload=Workload(4))
    validator(network=mobile).check_window(window((Kind.STATION, 5, 3, 0, 1), (Kind.STATION, 6, 3, 0, -1)))
    with pytest.raises(RunError, match=r"there is no station 2; allowed: -1 \(none\) to 1"):
        validator(network=mobile).check_window(window((Kind.STATION, 5, 3, 0, 2)))


def test_windows_come_in_order_and_time_never_goes_back() -> None:
    made = validator()
    made.check_window(window(end_ps=1000))
    with pytest.raises(RunError, match="window 5 came instead of window 2"):
        made.check_window(window(number=5, end_ps=2000))
    with pytest.raises(RunError, match="window 2 is wrong: it ends at 999 ps; allowed: 1000 ps, where the one"):
        made.check_window(window(number=2, end_ps=999))
    with pytest.raises(RunError, match="it ends at 9223372036854775807 ps"):
        made.check_window(window(number=2, end_ps=(1 << 63) - 1))
    with pytest.raises(RunError, match=r"row 0 .*999 ps is outside the window; allowed: 1000 ps"):
        made.check_window(window((Kind.NODE, 999, 0, 0, 0), number=2, end_ps=2000))
    with pytest.raises(RunError, match="window 0 is wrong: it ends at 5 ps and has 0 rows; allowed: 0 ps and no rows"):
        FrameValidator(small_spec()).check_window(window(number=0, end_ps=5))


def test_ids_need_not_be_handed_out_one_after_the_other() -> None:
    made = validator()
    ids = np.array([5, 1 << 60, 1 << 50, 6], np.int64)
    zeros = np.zeros(4, np.int32)
    made.check_actions(sends(np.full(4, 5), zeros, ids, zeros, zeros), window(end_ps=0))
    known = [(Kind.ARRIVAL, 5 + i, 0, int(id_), 0) for i, id_ in enumerate(ids)]
    made.check_window(window(*known))
    with pytest.raises(RunError, match=r"row 4 \(ARRIVAL at 20 ps, node 0, ref 1152921504606846977"):
        border_after = validator()
        border_after.check_actions(sends(np.full(4, 5), zeros, ids, zeros, zeros), window(end_ps=0))
        border_after.check_window(window(*known, (Kind.ARRIVAL, 20, 0, (1 << 60) + 1, 0)))


MOBILE = MobileNetwork(station_xy_mm=((0, 0), (5, 5)), wires=((0, 1),), hosts=2, workload=Workload(4))
OPENED = (int(Act.CONNECT), 1000, 1, 0, 2, 80, 2, 0)


def _with_a_connection() -> FrameValidator:
    """Window 1 was answered with a connection."""
    made, first = validator(network=MOBILE), window()
    made.check_window(first)
    made.check_actions(ActionRows([OPENED]), first)
    return made


def test_a_connection_is_listened_for_opened_used_and_ended() -> None:
    made = _with_a_connection()
    reported = window(
        (Kind.CONNECTED, 1001, 1, 0, 0), (Kind.ACCEPTED, 1001, 2, 0, 0), (Kind.BYTES, 1001, 2, 0, 536),
        (Kind.ROOM, 1001, 1, 0, 20_000), (Kind.ENDED, 1001, 2, 0, 0), number=2, end_ps=2000,
    )  # fmt: skip
    made.check_window(reported)
    acts = (Act.LISTEN, Act.WRITE, Act.READ, Act.CLOSE, Act.ABORT)
    made.check_actions(ActionRows([(int(act), 2000, 1, 0, 0, 80, 0, 0) for act in acts]), reported)


@pytest.mark.parametrize(
    ("change", "reported"),
    [
        ({5: 0}, "there is no port 0; allowed: 1 to 65535"),
        ({5: 65536}, "there is no port 65536; allowed: 1 to 65535"),
        ({4: 1}, "node 1 cannot connect to 1; allowed: another node, 0 to 3"),
        ({4: -1}, "node 1 cannot connect to -1; allowed: another node, 0 to 3"),
        ({6: 0}, "interface 0 has no TCP; allowed: 1 to 2"),
        ({3: 0}, "0 is no new connection; allowed: the next one, 1"),
        ({3: 2}, "2 is no new connection; allowed: the next one, 1"),
        ({0: int(Act.LISTEN), 4: 2}, "2 is neither begin nor stop; allowed: 1 (begin) or 0 (stop)"),
        ({0: int(Act.WRITE), 3: 1}, "the controller never opened connection 1; allowed: ids that it opened"),
        ({0: int(Act.ABORT), 3: -1}, "the controller never opened connection -1; allowed: ids that it opened"),
        ({0: int(Act.WRITE), 3: 0, 5: 0}, "0 bytes; allowed: 1 to 2147483647"),
        ({0: int(Act.READ), 3: 0, 5: -1}, "-1 bytes; allowed: 1 to 2147483647"),
    ],
)
def test_a_bad_action_about_a_connection_is_refused(change: dict[int, int], reported: str) -> None:
    row = tuple(change.get(i, value) for i, value in enumerate((*OPENED[:3], 1, *OPENED[4:])))
    with pytest.raises(RunError) as error:
        _with_a_connection().check_actions(ActionRows([row]), window())
    assert reported in str(error.value)


@pytest.mark.parametrize(
    ("row", "reported"),
    [
        ((Kind.BYTES, 1001, 2, 1, 536), "the controller never opened connection 1; allowed: ids that it opened"),
        ((Kind.BYTES, 1001, 2, 0, -1), "-1 is no number of bytes; allowed: 0 to 2147483647"),
        ((Kind.ENDED, 1001, 2, 0, 4), "4 is no Ending; allowed: 0 to 3"),
    ],
)
def test_a_bad_event_about_a_connection_is_refused(row: tuple[int, ...], reported: str) -> None:
    with pytest.raises(RunError) as error:
        _with_a_connection().check_window(window(row, number=2, end_ps=2000))
    assert reported in str(error.value)


def test_ranges_contain_the_added_ids_and_join() -> None:
    random = np.random.default_rng(1)
    ranges, expected = Ranges(), set()
    for _ in range(200):
        ids = random.integers(0, 3000, random.integers(0, 30))
        ranges.add(ids)
        expected.update(ids.tolist())
        asked = random.integers(-5, 3005, 50)
        assert ranges.has(asked).tolist() == [int(i) in expected for i in asked]
    ranges.add(np.arange(3000))
    assert len(ranges) == 1


BAD_ACTIONS = [
    ({0: 99}, "kind 99 is unknown; allowed: 0 SEND, 1 SET_TIMER"),
    ({0: int(Act.CONNECT)}, "this network has no TCP; allowed: packets (SEND)"),
    ({1: 999}, "an effect at 999 ps is too early or too late; allowed: 1000 to 4611686018427387903 ps"),
    ({1: 1 << 62}, "is too early or too late"),
    ({2: 1_000_000}, "there is no node 1000000; allowed: 0 to 2"),
    ({2: -1}, "there is no node -1; allowed: 0 to 2"),
    ({4: 3}, "there is no peer 3; allowed: -1 (everyone) to 2"),
    ({4: -2}, "there is no peer -2; allowed: -1 (everyone) to 2"),
    ({5: -1}, "a packet of -1 bytes; allowed: 0 to 2147483647"),
    ({6: 3}, "there is no interface 3; allowed: 0 to 2"),
    ({7: 16}, "there is no topic 16; allowed: 0 to 15"),
    ({3: -7}, "-7 is no id; allowed: 0 and up"),
    ({0: int(Act.SET_TIMER), 3: -7}, "-7 is no id; allowed: 0 and up"),
    ({0: int(Act.CANCEL_TIMER), 3: 4}, "the controller never set timer 4; allowed: ids that it set"),
    ({0: int(Act.NODE), 4: 2}, "2 is neither up nor down; allowed: 1 (up) or 0 (down)"),
    ({0: int(Act.NODE), 2: 1_000_000}, "there is no node 1000000; allowed: 0 to 2"),
    ({0: int(Act.RECORD), 4: 0}, "there is no channel 0"),
]


@pytest.mark.parametrize("before", [0, 50])
@pytest.mark.parametrize("as_columns", [False, True])
@pytest.mark.parametrize(("change", "reported"), BAD_ACTIONS)
def test_a_bad_action_has_the_same_message_as_rows_and_as_columns(
    change: dict[int, int], reported: str, as_columns: bool, before: int
) -> None:
    made, answered = validator(), window()
    made.check_window(answered)
    rows = [(*ROW[:3], i, *ROW[4:]) for i in range(before)]
    rows.append(tuple(change.get(i, value) for i, value in enumerate(ROW)))
    actions: Actions = ActionRows(rows)
    if as_columns:
        names = ("kind", "time_ps", "node", "ref", "peer", "size_bytes", "interface", "topic")
        actions = Actions(**{name: getattr(actions, name) for name in names})
    with pytest.raises(RunError) as error:
        made.check_actions(actions, answered)
    assert str(error.value).startswith(f"the answer to window 1 is wrong: row {before} (")
    assert reported in str(error.value)


@pytest.mark.parametrize(
    ("name", "column", "reported"),
    [
        ("time_ps", np.array([1000.5]), "its column time_ps holds float64; allowed: whole numbers"),
        ("size_bytes", np.array([1 << 31]), "row 0 has size_bytes 2147483648; allowed: -2147483648 to 2147483647"),
        (
            "peer",
            np.zeros(2, np.int32),
            "its column peer has 2 rows, its column kind 1; allowed: columns of",
        ),
        ("node", [None], "its column node holds object; allowed: whole numbers"),
    ],
)
def test_a_column_with_values_that_its_type_cannot_hold_is_refused(name: str, column: Any, reported: str) -> None:
    zeros = np.zeros(1, np.int32)
    actions = dataclasses.replace(sends(np.full(1, 5), zeros, zeros.astype(np.int64), zeros, zeros), **{name: column})
    with pytest.raises(RunError) as error:
        validator().check_actions(actions, window())
    assert reported in str(error.value)


def test_whole_numbers_of_another_width_cross() -> None:
    zeros = np.zeros(1, np.int64)
    actions = sends(np.full(1, 5), zeros, zeros, zeros, zeros)  # type: ignore[arg-type]
    validator().check_actions(actions, window())
    assert actions.node.dtype == np.int32


def test_a_number_beyond_its_column_is_reported() -> None:
    with pytest.raises(RunError, match="row 60 has time_ps 1000000000000000000000000000000; allowed"):
        rows = [(*ROW[:3], i, *ROW[4:]) for i in range(60)]
        validator().check_actions(ActionRows([*rows, (0, 10**30, 0, 60, 1, 0, 0, 0)]), window())


@pytest.mark.parametrize(
    ("promise", "reported"),
    [
        ((1 << 31, 1, 5), "a lookahead is declared for node 2147483648; allowed: 0 to 2"),
        ((0, 0, 5), "a lookahead is declared for topic 0; allowed: 1 to 15"),
        ((0, 16, 5), "a lookahead is declared for topic 16; allowed: 1 to 15"),
        ((0, 1, -2), "a lookahead of -2 ps; allowed: 0 ps to FOREVER (9223372036854775807), or IGNORED (-1)"),
        ((0, 1, 1 << 63), "a lookahead of 9223372036854775808 ps; allowed: 0 ps to FOREVER"),
        ((0, 1, 0.5), "Lookahead(node=0, topic=1, lookahead_ps=0.5); allowed: whole numbers"),
    ],
)
def test_an_impossible_lookahead_is_refused(promise: tuple[Any, ...], reported: str) -> None:
    with pytest.raises(RunError, match=re.escape(f"the answer to window 1 is wrong: {reported}")):
        validator().check_actions(ActionRows([], lookaheads=(Lookahead(*promise),)), window())


def test_ids_of_two_numberings_are_known_as_ranges() -> None:
    """DCS numbers its control packets apart: neither numbering may need a look-up."""
    made = validator()
    for first in range(0, 40, 4):
        ids = np.concatenate([np.arange(first, first + 4), (1 << 62) + np.arange(first, first + 4)])
        zeros = np.zeros(8, np.int32)
        made.check_actions(sends(np.full(8, 5), zeros, ids, zeros, zeros), window(end_ps=0))
    assert len(made._packets) == 0
    made.check_window(window((Kind.ARRIVAL, 5, 0, 39, 0), (Kind.ARRIVAL, 5, 0, (1 << 62) + 39, 0)))
    with pytest.raises(RunError, match="the controller never sent packet 4611686018427387944"):
        made.check_window(window((Kind.ARRIVAL, 1000, 0, (1 << 62) + 40, 0), number=2, end_ps=1001))


def test_ids_that_came_in_any_order_become_a_range_once_they_are_one() -> None:
    made = validator()
    mixed = np.array([3, 0, 7, 1, 5, 2, 6, 4])
    zeros = np.zeros(8, np.int32)
    made.check_actions(sends(np.full(8, 5), zeros, mixed, zeros, zeros), window(end_ps=0))
    assert len(made._packets) == 0
    made.check_window(window(*((Kind.ARRIVAL, 5, 0, id_, 0) for id_ in range(8))))
    with pytest.raises(RunError, match="the controller never sent packet 8"):
        made.check_window(window((Kind.ARRIVAL, 1000, 0, 8, 0), number=2, end_ps=1001))


def test_answers_that_the_caller_has_validated_still_register_their_ids() -> None:
    made = validator()
    made.check_actions(ActionRows([(int(Act.SET_TIMER), 1, 0, 2, 0, 0, 0, 0)], made=(3, 3)), window(end_ps=0))
    made.check_window(window((Kind.ARRIVAL, 5, 0, 2, 0), (Kind.TIMER, 5, 0, 2, 0)))
    with pytest.raises(RunError, match="the controller never set timer 3"):
        made.check_window(window((Kind.TIMER, 1000, 0, 3, 0), number=2, end_ps=1001))


def test_runs_may_begin_in_several_threads_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    validation_kernel.compiled_kernels()
    compiling = []

    class Slow:
        """A kernel whose compilation takes so long that another thread calls it meanwhile."""

        overloads = validation_kernel.first_bad_event.overloads

        def compile(self, _: object) -> None:
            compiling.append(self)
            time.sleep(0.02)
            assert self in compiling, "compilation disabled"

        def disable_compile(self) -> None:
            compiling.remove(self)

    for name in validation_kernel.Kernels._fields:
        monkeypatch.setattr(validation_kernel, name, Slow())
    monkeypatch.setattr(
        validation_kernel, "_compile_kernels", functools.cache(validation_kernel._compile_kernels.__wrapped__)
    )
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(lambda _: validation_kernel.compiled_kernels(), range(4)))
    assert all(kernels is found[0] for kernels in found)
