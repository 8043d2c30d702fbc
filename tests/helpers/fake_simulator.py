"""A simulator in Python that does one thing wrong (or nothing): `python tests/helpers/fake_simulator.py MODE`.

It sends windows of one TIMER event each, every microsecond of simulated time, and ends after `WINDOWS` of them.
"""

from __future__ import annotations

import os
import struct
import sys
import time

import zmq

from causeway.proto.contract import CONTRACT, pb, schema_sha256

WINDOWS = 50
TIMER = b"\x04"


def hello(contract: int = CONTRACT, schema: str = "") -> bytes:
    frame = pb.Frame()
    frame.hello.contract, frame.hello.schema_sha256 = contract, schema or schema_sha256()
    frame.hello.engine, frame.hello.engine_version = "fake", "fake 1"
    return frame.SerializeToString()


def window(number: int) -> bytes:
    frame = pb.Frame()
    time_ps = number * 1_000_000
    frame.window.number, frame.window.end_ps, frame.window.reply = number, time_ps, True
    if number > 0:
        frame.window.kind, frame.window.time_ps, frame.window.node = TIMER, struct.pack("<q", time_ps - 1), bytes(4)
        frame.window.ref, frame.window.arg = struct.pack("<q", number), bytes(4)
    return frame.SerializeToString()


def finish() -> bytes:
    frame = pb.Frame()
    frame.finish.reason, frame.finish.end_ps, frame.finish.events = "done", WINDOWS * 1_000_000, WINDOWS
    return frame.SerializeToString()


def run(mode: str, socket: zmq.Socket) -> None:
    if mode == "says nothing":
        time.sleep(600)
    if mode == "dies at once":
        sys.exit("no such model: Ghost")
    if mode == "random bytes at first":
        socket.send(os.urandom(300))
        socket.recv()
        return
    socket.send(
        hello(contract=7 if mode == "other contract" else CONTRACT, schema="ab" * 32 if mode == "other schema" else "")
    )
    answer = pb.Frame.FromString(socket.recv())
    if answer.HasField("error"):
        sys.exit(f"refused: {answer.error.what}")
    for number in range(WINDOWS + 1):
        if number == 10:
            misbehave(mode, number, socket)
        socket.send(window(number))
        answer = pb.Frame.FromString(socket.recv())
        if answer.HasField("error"):
            sys.exit(f"refused: {answer.error.what}")
    socket.send(finish())
    if mode == "fails at the end":
        sys.exit("cannot write the results")
    if mode == "leaves a child" and os.fork() == 0:
        time.sleep(600)


def misbehave(mode: str, number: int, socket: zmq.Socket) -> None:
    print("about to be", mode, flush=True)
    if mode == "dies":
        os._exit(9)
    elif mode == "killed":
        os.kill(os.getpid(), 9)
    elif mode == "stops answering":
        time.sleep(600)
    elif mode == "random frame":
        socket.send(os.urandom(500))
        sys.exit(f"refused: {pb.Frame.FromString(socket.recv()).error.what}")
    elif mode == "truncated frame":
        socket.send(window(number)[:-7])
        sys.exit(f"refused: {pb.Frame.FromString(socket.recv()).error.what}")
    elif mode == "wrong number":
        socket.send(window(number + 3))
        sys.exit(f"refused: {pb.Frame.FromString(socket.recv()).error.what}")
    elif mode == "error frame":
        frame = pb.Frame()
        frame.error.what = "module 'x' divides by zero"
        socket.send(frame.SerializeToString())
        time.sleep(600)
    elif mode == "bad frame, then deaf":
        socket.send(os.urandom(500))
        socket.close(1000)
        time.sleep(600)
    elif mode == "hangs up":
        socket.close(1000)
        time.sleep(600)
    elif mode == "prints without end":
        for _ in range(200):
            os.write(1, b"x" * (1 << 20))
        os._exit(9)
    elif mode == "leaves its output to another session":
        if os.fork() == 0:
            os.setsid()
            duration = f"600.{os.environ['FAKE_MARK']}"
            os.environ.clear()
            os.execv("/bin/sleep", ["sleep", duration])
    elif mode == "slow":
        time.sleep(0.5)


if __name__ == "__main__":
    context = zmq.Context()
    pair = context.socket(zmq.PAIR)
    pair.connect(os.environ["CAUSEWAY_ENDPOINT"])
    run(sys.argv[1], pair)
    pair.close(1000)
    context.term()
