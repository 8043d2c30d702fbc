"""A session ends with one clear line whatever the simulator does, and leaves no process or file."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from causeway.bridge.engine import Finish, RunSpec
from causeway.bridge.events import NO_ACTIONS
from causeway.bridge.process import Simulator
from causeway.bridge.session import open_session
from causeway.bridge.transport import Transport, private_directory
from causeway.errors import RunError, UserError
from causeway.proto.contract import CONTRACT
from tests.helpers.bridge_tools import FAKE, FAKE_ENVIRONMENT, TOP, small_spec, wait_until

ENDS = {
    "dies at once": "the simulator (fake) died: exit status 1; its last lines: no such model: Ghost",
    "random bytes at first": "the simulator (fake) broke the contract: a message of 300 bytes is not a frame",
    "other contract": f"the simulator (fake) speaks contract 7, this controller speaks {CONTRACT}; rebuild it (",
    "other schema": "the simulator (fake) was built from another proto/causeway.proto (schema abababababab, here ",
    "dies": "the simulator (fake) died: exit status 9; its last lines: about to be dies",
    "killed": "the simulator (fake) died: killed by SIGKILL; its last lines: about to be killed",
    "random frame": "the simulator (fake) broke the contract: a message of 500 bytes is not a frame of this contract",
    "truncated frame": "the simulator (fake) broke the contract: a message of 39 bytes is not a frame of this contract",
    "wrong number": "window 13 came instead of window 10",
    "error frame": "the simulator (fake) cannot go on: module 'x' divides by zero",
    "fails at the end": "the simulator (fake) died: exit status 1; its last lines: ",
}


@pytest.fixture(autouse=True)
def own_temporary_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Sessions use a directory of the test; every test checks that it is empty afterwards."""
    assert tmp_path.is_dir(), "pytest makes its own where they always are"
    with tempfile.TemporaryDirectory(dir="/tmp") as own:  # a path of pytest's may be too long for a socket
        monkeypatch.setenv("TMPDIR", own)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield Path(own)
        monkeypatch.setattr(tempfile, "tempdir", None)
        assert os.listdir(own) == []


def play(mode: str, spec: RunSpec) -> Finish:
    """Run the fake simulator, which must leave no process behind."""
    session = None
    try:
        session = open_session(spec, "fake", [*FAKE, mode], {**FAKE_ENVIRONMENT, "FAKE_MARK": str(os.getpid())})
        while not isinstance(event := session.next(), Finish):
            session.answer(NO_ACTIONS)
        return event
    finally:
        if session is not None:
            session.close()
        assert marked_processes(str(os.getpid())) == []


def processes_called(*command: str) -> list[int]:
    """Return the ids of the processes with this command line."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):
            if (entry / "cmdline").read_text() == "".join(f"{word}\0" for word in command):
                found.append(int(entry.name))
    return found


def marked_processes(mark: str) -> list[int]:
    """Return the running processes with FAKE_MARK=mark in their environment."""
    found = []
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            if f"FAKE_MARK={mark}\0".encode() in (directory / "environ").read_bytes():
                found.append(int(directory.name))
        except OSError:
            continue
    return [pid for pid in found if pid != os.getpid()]


def test_a_run_ends_with_the_results_of_the_simulator() -> None:
    assert play("fine", small_spec()) == Finish("done", 50_000_000, 50, {})


def test_a_simulator_that_takes_its_time_is_waited_for() -> None:
    assert play("slow", small_spec(deadline_s=5)).events == 50


@pytest.mark.parametrize("mode", ENDS)
def test_every_way_to_fail_ends_in_one_clear_line(mode: str, tmp_path: Path) -> None:
    with pytest.raises(RunError) as error:
        play(mode, small_spec(record_to=tmp_path / "run.frames"))
    assert str(error.value).startswith(ENDS[mode])
    assert "\n" not in str(error.value)
    assert not list(tmp_path.glob("*run.frames*"))


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["says nothing", "stops answering"])
def test_a_silent_simulator_is_ended_at_the_deadline(mode: str) -> None:
    with pytest.raises(RunError, match="said nothing for 1 s"):
        play(mode, small_spec(deadline_s=1.0))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mode", "reported"),
    [
        ("bad frame, then deaf", "the simulator (fake) broke the contract: a message of"),
        ("hangs up", "the simulator closed its connection but did not end; it was ended"),
    ],
)
def test_a_simulator_that_breaks_the_contract_and_lives_on_is_reported_at_once(mode: str, reported: str) -> None:
    with pytest.raises(RunError) as error:
        play(mode, small_spec(deadline_s=60.0))
    assert str(error.value).startswith(reported), "at the deadline it would be reported as silent"


def test_a_signal_without_a_name_is_shown_by_its_number() -> None:
    ends = [sys.executable, "-c", f"import os; os.kill(os.getpid(), {signal.SIGRTMIN + 1})"]
    simulator = Simulator("fake", ends, {})
    try:
        simulator.wait(60)
        assert f"killed by signal {signal.SIGRTMIN + 1}" in (simulator.death() or "")
    finally:
        simulator.end()


def test_what_omnet_prints_about_its_progress_does_not_hide_the_cause() -> None:
    lines = [
        "** Event #9   t=1   Elapsed: 0.1s",
        "     Speed:     ev/sec=0",
        "     Messages:  created: 8",
        "<!> Error: no",
    ]
    simulator = Simulator("fake", [sys.executable, "-c", f"print({chr(10).join([*lines, '', 'End.'])!r}); exit(1)"], {})
    try:
        simulator.wait(60)
        assert simulator.death() == "the simulator (fake) died: exit status 1; its last lines: <!> Error: no"
    finally:
        simulator.end()


def test_of_endless_output_only_the_last_part_is_kept() -> None:
    peak_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(RunError, match=r"exit status 9; its last lines: x{500}$"):
        play("prints without end", small_spec())
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - peak_before < 50_000  # kB, of 200 MB


@pytest.mark.parametrize(
    ("own", "reported"), [({}, "glibc.malloc.hugetlb=1"), ({"GLIBC_TUNABLES": "of=mine"}, "of=mine")]
)
def test_a_simulator_has_large_pages_unless_the_user_tunes_it(
    own: dict[str, str], reported: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GLIBC_TUNABLES", raising=False)
    for name, value in own.items():
        monkeypatch.setenv(name, value)
    simulator = Simulator("tuned", ["sh", "-c", 'echo "$GLIBC_TUNABLES"'], {})
    assert simulator.wait(10) == 0
    simulator.end()
    assert simulator.last_lines() == [reported]


def test_closing_does_not_wait_for_a_child_that_kept_the_output_open() -> None:
    assert play("leaves its output to another session", small_spec()).events == 50
    left = processes_called("sleep", f"600.{os.getpid()}")
    assert left, "the child still runs"
    os.kill(left[0], signal.SIGKILL)


def test_children_of_the_simulator_are_ended_too() -> None:
    assert play("leaves a child", small_spec()).events == 50


def test_a_simulator_that_does_not_exist_is_the_users_error() -> None:
    with pytest.raises((UserError, RunError), match="no-such-simulator"):
        open_session(small_spec(), "fake", ["/no-such-simulator"])


def test_the_socket_is_private_and_gone_once_the_simulator_is_connected() -> None:
    transport = Transport()
    directory = Path(transport.endpoint.removeprefix("ipc://")).parent
    assert stat.S_IMODE(directory.stat().st_mode) == 0o700
    transport.peer_is_connected()
    assert not directory.exists()
    transport.close()


def test_directories_of_killed_controllers_are_swept_and_those_of_living_ones_are_not(
    own_temporary_directory: Path,
) -> None:
    dead = own_temporary_directory / "causeway-run-dead"
    dead.mkdir()
    (dead / "bridge").touch()
    living = Transport()
    alive = Path(living.endpoint.removeprefix("ipc://")).parent
    for directory in (dead, alive):
        os.utime(directory, (1, 1))
    other, lock = private_directory()
    assert not dead.exists()
    assert alive.exists()
    os.close(lock)
    other.rmdir()
    living.close()


@pytest.mark.slow
@pytest.mark.parametrize("endpoint", ["tcp", "tcp://127.0.0.1:*"])
def test_over_tcp_a_peer_without_the_runs_keys_cannot_connect(endpoint: str) -> None:
    with pytest.raises(RunError, match="said nothing for 1 s"):  # the fake simulator knows nothing of keys
        play("fine", small_spec(deadline_s=1.0, options={"endpoint": endpoint}))


def test_an_endpoint_of_another_kind_is_refused() -> None:
    with pytest.raises(UserError, match="unknown endpoint 'carrier pigeon'; use ipc, tcp or tcp://address:port"):
        play("fine", small_spec(options={"endpoint": "carrier pigeon"}))


def test_a_full_disk_while_recording_is_reported_and_leaves_no_half_file(tmp_path: Path) -> None:
    """A limit of file sizes replaces the full disk: writing fails at the same place (EFBIG instead of ENOSPC)."""
    script = (
        "import resource, signal, sys, os\n"
        "from pathlib import Path\n"
        "from tests.bridge.test_session import play\n"
        "from tests.helpers.bridge_tools import small_spec\n"
        "from causeway.errors import RunError\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (600, 600))\n"
        "try:\n"
        "    play('fine', small_spec(record_to=Path(sys.argv[1])))\n"
        "except RunError as error:\n"
        "    print(error)\n"
    )
    path = tmp_path / "run.frames"
    done = subprocess.run(
        [sys.executable, "-c", script, str(path)], cwd=TOP, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout.startswith(f"cannot write the recording {path}: "), done.stdout + done.stderr
    assert done.stdout.count("\n") == 1
    assert not list(tmp_path.glob("*run.frames*"))


def test_a_simulator_ends_with_its_killed_controller() -> None:
    script = (
        "import sys\n"
        "from tests.helpers.bridge_tools import FAKE, FAKE_ENVIRONMENT, small_spec\n"
        "from causeway.bridge.session import open_session\n"
        "session = open_session(small_spec(), 'fake', [*FAKE, 'stops answering'],\n"
        "                       {**FAKE_ENVIRONMENT, 'FAKE_MARK': sys.argv[1]})\n"
        "print('open', flush=True)\n"
        "import time; time.sleep(600)\n"
    )
    mark = f"killed-{os.getpid()}"
    with subprocess.Popen(
        [sys.executable, "-c", script, mark], cwd=TOP, stdout=subprocess.PIPE, text=True
    ) as controller:
        assert controller.stdout is not None
        assert controller.stdout.readline() == "open\n"
        assert len(marked_processes(mark)) == 1
        controller.send_signal(signal.SIGKILL)
    assert wait_until(lambda: marked_processes(mark) == [], within_s=3)
