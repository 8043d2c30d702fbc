"""The log of nodes: simulated time and node in each line, no effect on a run, nothing when it is off."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from causeway.errors import UserError
from causeway.explore.model import Budget, Model
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.node_log import LOGGER, SILENT, logging_nodes
from tests.helpers.small_runs import small_run


class Talks(Node):
    def __init__(self) -> None:
        self.log.debug("made")

    def on_broadcast(self, number: int, size_bytes: int) -> None:
        self.log.info("asked for %d bytes, 100%%", size_bytes)
        self.log.debug("draws %s", self.rng.random())
        self.send(EVERYONE, "x")

    def on_packet(self, content: str, sender: int, interface: int) -> None:
        self.log.warning("heard {%s}", content)

    def on_finish(self) -> None:
        self.log.info("the end")


def test_each_line_has_the_time_and_the_node(tmp_path: Path) -> None:
    file = tmp_path / "log"
    with logging_nodes("info", file):
        small_run(Talks)
    assert file.read_text().splitlines() == [
        "0.001000 s  node 2  asked for 100 bytes, 100%", "0.003000 s  node 0  heard {x}",
        "0.003000 s  node 1  heard {x}", "0.003000 s  node 0  the end", "0.003000 s  node 1  the end",
        "0.003000 s  node 2  the end",
    ]  # fmt: skip


def test_the_log_does_not_change_a_run(tmp_path: Path) -> None:
    quiet = small_run(Talks)[1]
    with logging_nodes("debug", tmp_path / "log"):
        logged = small_run(Talks)[1]
    assert logged.digest == quiet.digest and logged.samples == quiet.samples
    assert (tmp_path / "log").read_text().startswith("0.000000 s  node 0  made\n")


def test_the_log_is_off_and_no_handler_is_called(capfd: pytest.CaptureFixture[str]) -> None:
    seen: list[logging.LogRecord] = []

    class Keeps(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(record)

    handler = Keeps()
    LOGGER.addHandler(handler)
    try:
        protocol, _ = small_run(Talks)
    finally:
        LOGGER.removeHandler(handler)
    assert not seen and capfd.readouterr().err == ""
    assert protocol.nodes[0].log is SILENT and not SILENT.isEnabledFor(logging.CRITICAL)


def test_a_logged_line_has_the_place_in_the_protocol(tmp_path: Path) -> None:
    seen: list[logging.LogRecord] = []

    class Keeps(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            seen.append(record)

    handler = Keeps()
    LOGGER.addHandler(handler)
    try:
        with logging_nodes("warning", tmp_path / "log"):
            small_run(Talks)
    finally:
        LOGGER.removeHandler(handler)
    assert {(Path(one.pathname).name, one.funcName) for one in seen} == {(Path(__file__).name, "on_packet")}


def test_a_model_logs_too(tmp_path: Path) -> None:
    with logging_nodes("info", tmp_path / "log"):
        world = Model(PerNode(Talks), 2, Budget(broadcasts=1))
        world.do(next(choice for choice in world.choices() if choice.what == "broadcast"))
    assert "asked for" in (tmp_path / "log").read_text() and world.broken is None


def test_a_wrong_level_or_file_is_refused_in_a_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="--log loud is not a level; allowed: debug, info, warning, error, critical"):
        logging_nodes("loud").__enter__()
    with pytest.raises(UserError, match=r"--log-file .*; choose a file that can be written"):
        logging_nodes("info", tmp_path).__enter__()
