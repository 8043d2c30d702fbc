"""The event loop of a node: simulated time, asyncio's tools, failures, and what a simulated node does not have."""

from __future__ import annotations

import asyncio
import contextlib
import math
import socket
import subprocess
import threading
import time

import pytest

from causeway.aio import OutsideError
from causeway.aio import event_loop as loop
from causeway.errors import RunError
from tests.helpers.aio_programs import REACTION_S, S_PS, faults, results, run


def now() -> float:
    return asyncio.get_running_loop().time()


def test_sleeping_an_hour_takes_an_hour_of_simulated_time_to_the_picosecond():
    async def main(node):
        await asyncio.sleep(3600)
        return now()

    assert results(main) == [3600.0, 3600.0]


def test_a_timer_fires_no_earlier_than_the_reaction_time():
    async def main(node):
        await asyncio.sleep(REACTION_S / 10)
        return now()

    assert results(main, 1) == [REACTION_S]


def test_ready_callbacks_run_at_the_same_instant():
    async def main(node):
        await asyncio.sleep(1)
        for _ in range(100):
            await asyncio.sleep(0)
        return now()

    assert results(main, 1) == [1.0]


def test_timers_of_one_instant_run_in_the_order_in_which_they_were_set():
    async def main(node):
        seen = []
        for i in range(20):
            asyncio.get_running_loop().call_at(1.0, seen.append, i)
        await asyncio.sleep(1)
        return seen

    assert results(main, 1) == [list(range(20))]


def test_a_timeout_cancels_only_a_wait_that_is_too_long():
    async def main(node):
        async with asyncio.timeout(1):
            await asyncio.sleep(0.5)
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await asyncio.sleep(2)
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 0.25)
        return now()

    assert results(main, 1) == [1.75]


def test_an_infinite_timeout_never_fires():
    async def main(node):
        async with asyncio.timeout(math.inf):
            await asyncio.sleep(1)
        asyncio.get_running_loop().call_later(math.inf, node.record, "never", 1).cancel()
        return now()

    assert results(main, 1) == [1.0]


def test_a_sleep_beyond_the_latest_time_lasts_until_the_end_of_the_run():
    async def main(node):
        await asyncio.sleep(365 * 24 * 3600)

    programs, outcome = run(main, 1, duration_s=10)
    assert outcome.finish.end_ps <= 10 * loop.S_PS
    assert len(programs.pending) == 1


def test_a_task_group_cancels_the_others_when_one_fails():
    async def main(node):
        ended = []

        async def declare_lookahead():
            try:
                await asyncio.sleep(100)
            except asyncio.CancelledError:
                ended.append(now())
                raise

        async def fails():
            await asyncio.sleep(2)
            raise KeyError("x")

        with pytest.raises(ExceptionGroup):
            async with asyncio.TaskGroup() as group:
                group.create_task(declare_lookahead())
                group.create_task(fails())
        return ended

    assert results(main, 1) == [[2.0]]


def test_queues_locks_events_conditions_and_semaphores_work():
    async def main(node):
        queue, lock, gate, seen = asyncio.Queue(2), asyncio.Lock(), asyncio.Semaphore(2), []

        async def maker():
            for i in range(5):
                await queue.put(i)
            await queue.join()

        async def taker():
            while True:
                item = await queue.get()
                async with lock, gate:
                    await asyncio.sleep(0.1)
                    seen.append((item, round(now(), 6)))
                queue.task_done()

        takers = [asyncio.create_task(taker()) for _ in range(3)]
        await maker()
        for task in takers:
            task.cancel()
        return seen

    assert results(main, 1) == [[(0, 0.1), (1, 0.2), (2, 0.3), (3, 0.4), (4, 0.5)]]


def test_a_set_of_tasks_has_the_order_of_their_first_use_not_of_their_addresses():
    async def main(node):
        tasks = [asyncio.create_task(asyncio.sleep(0, i)) for i in range(50)]
        done, _ = await asyncio.wait(tasks)
        return [task.result() for task in done]

    first, second = results(main, 1), results(main, 1)
    assert first == second == [list(range(50))]


def test_main_ends_as_under_asyncio_run_its_other_tasks_are_cancelled():
    ended = []

    async def main(node):
        async def left():
            try:
                await asyncio.sleep(100)
            finally:
                ended.append((node.id, now()))

        task = asyncio.create_task(left())
        await asyncio.sleep(1)
        return task is not None

    assert results(main) == [True, True]
    assert ended == [(0, 1.0), (1, 1.0)]


def test_asynchronous_generators_are_closed_when_main_ends():
    closed = []

    async def numbers():
        try:
            while True:
                yield 1
        finally:
            closed.append(now())

    async def main(node):
        generator = numbers()
        await anext(generator)
        await asyncio.sleep(1)
        node.kept = generator

    run(main, 1)
    assert closed == [1.0]


# ---- failures -----------------------------------------------------------------------------------------------------
def test_a_node_that_fails_loses_its_memory_and_starts_main_again_with_its_store():
    lives = []

    async def main(node):
        memory = []
        node.store["lives"] = node.store.get("lives", 0) + 1
        while True:
            await asyncio.sleep(1)
            memory.append(now())
            if node.id == 1:
                lives.append((node.store["lives"], list(memory)))

    run(main, faults=faults((2.5, 1, 0), (5.25, 1, 1)), duration_s=7)
    assert lives == [(1, [1.0]), (1, [1.0, 2.0]), (2, [6.25])]


def test_nothing_of_a_program_runs_when_its_node_fails_not_even_finally():
    ran = []

    async def main(node):
        try:
            await asyncio.sleep(100)
        finally:
            ran.append((node.id, now()))

    run(main, faults=faults((1, 1, 0)))
    assert ran == [(0, 100.0)]


# ---- errors -------------------------------------------------------------------------------------------------------
def test_an_error_in_main_ends_the_run_with_node_time_and_its_own_traceback():
    async def main(node):
        await asyncio.sleep(1.5)
        if node.id == 1:
            raise ValueError("too many rabbits")

    with pytest.raises(RunError, match=r"node1 at 1.5 s in task main of node1: ValueError: too many rabbits") as caught:
        run(main)
    assert "raise ValueError(" in str(caught.value) and "programs.py" not in str(caught.value)
    assert isinstance(caught.value.__cause__, ValueError)


def test_a_task_that_nobody_awaits_ends_the_run_when_it_fails():
    async def main(node):
        async def fails():
            await asyncio.sleep(1)
            raise ValueError("forgotten")

        asyncio.create_task(fails())  # noqa: RUF006
        await asyncio.sleep(10)

    with pytest.raises(RunError, match="node0 at 1 s in task Task-2: ValueError: forgotten"):
        run(main)


def test_a_task_that_is_kept_but_never_awaited_is_found_at_the_end_with_the_time_of_its_failure():
    kept = []

    async def main(node):
        async def fails():
            await asyncio.sleep(1)
            raise ValueError("kept")

        kept.append(asyncio.create_task(fails()))
        await asyncio.sleep(10)

    with pytest.raises(RunError, match="node0 at 1 s in task Task-2: ValueError: kept"):
        run(main, 1)


def test_an_error_that_another_task_retrieves_does_not_end_the_run():
    async def main(node):
        async def fails():
            raise ValueError("taken")

        task = asyncio.create_task(fails())
        await asyncio.sleep(5)
        with pytest.raises(ValueError, match="taken"):
            await task
        return "went on"

    assert results(main, 1) == ["went on"]


def test_a_study_may_keep_errors_and_count_them():
    async def main(node):
        await asyncio.sleep(1)
        raise ValueError(node.id)

    programs, outcome = run(main, 3, programs={"errors": "keep"})
    assert outcome.scalars["failed_tasks"] == 3
    assert "node2 at 1 s" in str(programs.failures[2])


def test_tasks_that_wait_when_the_run_ends_are_listed():
    async def inner():
        await asyncio.Event().wait()  # here

    async def main(node):
        await inner()

    programs, outcome = run(main, 1)
    assert outcome.scalars["pending_tasks"] == 1
    line = inner.__code__.co_firstlineno + 1
    assert programs.pending == [f"node0: main of node0 (main) at {__file__}:{line}"]


@pytest.mark.parametrize("start", [0.1, 0.0500029999, 1 / 3, 1234.5678901234567])
def test_a_timer_runs_exactly_at_its_time(start):
    """A program that checks the clock and waits for the remaining time, if any, ends; aiohttp's heartbeat does so."""
    reached = []

    async def main(node):
        loop = asyncio.get_running_loop()
        await asyncio.sleep(start)
        for delay in (0.1, 0.2, 0.05, 1e-13, 1 / 7):
            until = loop.time() + delay
            while (rest := until - loop.time()) > 0:
                await asyncio.sleep(rest)
            called = loop.create_future()
            until = loop.time() + delay
            loop.call_at(until, lambda called=called: called.set_result(loop.time()))
            reached.append(await called >= until)
            assert time.monotonic() >= until

    run(main, 1)
    assert reached == [True] * 5


def test_a_program_that_spins_is_named(monkeypatch):
    async def spins():
        while True:
            await asyncio.sleep(0)

    async def main(node):
        await asyncio.sleep(1)
        await spins()

    monkeypatch.setattr(loop, "CALLBACKS_AT_ONCE", 10_000)
    with pytest.raises(RunError, match=r"node0 ran 10,000 callbacks at 1 s while no time passed: .*_run_program"):
        run(main, 1)


def test_a_node_that_touches_a_future_of_another_node_is_an_error():
    shared = {}

    async def main(node):
        if node.id == 0:
            shared["future"] = asyncio.get_running_loop().create_future()
            await shared["future"]
        await asyncio.sleep(1)
        shared["future"].set_result(1)

    with pytest.raises(RunError, match="node1 at 1 s used a task or future of node0"):
        run(main)


# ---- outside ------------------------------------------------------------------------------------------------------
async def _executor():
    await asyncio.to_thread(print)


async def _sleep():
    time.sleep(0.01)


async def _socket():
    socket.create_connection(("127.0.0.1", 9))


async def _subprocess():
    await asyncio.create_subprocess_exec("true")


async def _popen():
    subprocess.run(["true"], check=False)


async def _thread():
    threading.Thread(target=print).start()


async def _tls():
    await asyncio.open_connection("node1", 443, ssl=True)


async def _reader():
    asyncio.get_running_loop().add_reader(0, print)


async def _signal():
    asyncio.get_running_loop().add_signal_handler(2, print)


@pytest.mark.parametrize(
    ("does", "says"),
    [
        (_executor, "run_in_executor.* would leave the simulation: there is one thread"),
        (_sleep, r"time.sleep\(0.01\) in node0 at 1 s \(.*test_event_loop.py:\d+\) would .* use await asyncio.sleep"),
        (_socket, "a real socket in node0 would leave the simulation: use asyncio's streams"),
        (_subprocess, "a subprocess would leave the simulation"),
        (_popen, "a subprocess in node0 would leave the simulation"),
        (_thread, "a thread in node0 would leave the simulation: use asyncio.create_task"),
        (_tls, "create_connection.ssl=....* would leave the simulation: talk in plain text"),
        (_reader, "add_reader would leave the simulation: use create_datagram_endpoint"),
        (_signal, r"add_signal_handler\(2\) would leave the simulation"),
    ],
)
def test_calls_that_leave_the_simulation_are_refused_with_an_alternative(does, says):
    async def main(node):
        await asyncio.sleep(1)
        with pytest.raises(OutsideError, match=says) as caught:
            await does()
        assert "\n" not in str(caught.value)
        return True

    assert results(main, 1) == [True]


def test_the_process_has_its_own_clock_sockets_and_threads_back_after_a_run():
    before = time.time, time.sleep, socket.socket.__init__, threading.Thread.start
    run(_nothing, 1)
    assert (time.time, time.sleep, socket.socket.__init__, threading.Thread.start) == before


async def _nothing(node):
    await asyncio.sleep(0)


@pytest.mark.parametrize("delay", [math.inf, 1e300, 1e12, 9e6])
def test_a_sleep_for_ever_lasts_for_ever(delay):
    async def main(node):
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(asyncio.sleep(delay), 5)
        asyncio.get_running_loop().call_at(delay, print, "never")
        task = asyncio.create_task(asyncio.sleep(delay))
        assert await asyncio.wait_for(asyncio.sleep(1, "slept"), delay) == "slept"
        await task

    protocol, outcome = run(main, 1)
    assert outcome.finish.end_ps < 7 * S_PS and len(protocol.pending) == 2
    assert math.isfinite(outcome.scalars["pending_tasks"])


def test_a_delay_before_now_is_now_and_one_that_is_no_number_is_an_error():
    async def main(node):
        called = []
        asyncio.get_running_loop().call_later(-math.inf, called.append, 1)
        with pytest.raises(ValueError, match="NaN"):
            asyncio.get_running_loop().call_later(math.nan, called.append, 2)
        await asyncio.sleep(0.01)
        return called

    assert results(main, 1) == [[1]]
