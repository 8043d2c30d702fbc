"""Run pdb from the first line of the handler that an event calls.

It skips about twenty calls of Causeway between the prompt of `causeway replay --pdb` and that line. Some of these make
texts of packets and may also call the user's code.
"""

from __future__ import annotations

import inspect
import sys
import sysconfig
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

from causeway.explore.model import Choice, Model
from causeway.pycontrol.debugging import USERS, ProtocolPdb, is_user_code
from causeway.pycontrol.node_requests import Exchange
from causeway.pycontrol.node_timers import Due

HANDLERS = {
    "packet": "on_packet", "twice": "on_packet", "timer": "on_timer", "broadcast": "on_broadcast",
    "crash": "on_down", "recover": "on_up", "move": "on_station",
}  # fmt: skip
"""The handler that each kind of event calls. A loss calls none."""
STDLIB = (sysconfig.get_path("stdlib"), "<")


class HandlerPdb(ProtocolPdb):
    """A debugger for one handler.

    `q` runs the rest of the handler, since a handler that stops halfway would leave an invalid state.
    """

    def do_quit(self, arg: str) -> Any:
        """Run the handler to its end."""
        return self.do_continue(arg)

    do_q = do_exit = do_EOF = do_quit


def run(model: Model, choice: Choice) -> None:
    """Execute an event, and stop in the handler that it calls."""
    target = _handler(model, choice)
    if target is None:
        model.do(choice)
        return
    stop_in(target, lambda: model.do(choice))


def stop_in(target: CodeType | None, do: Callable[[], object]) -> bool:
    """Stop in the first call of a function in `do`, or of any function of the user's if `target` is None.

    Return whether there was such a call.
    """
    debugger, reached = HandlerPdb(), [False]

    def watch(frame: FrameType, event: str, _: Any) -> Any:
        if event == "call" and not reached[0]:
            reached[0] = frame.f_code is target if target is not None else is_user_code(frame)
        if not reached[0] or _is_machinery(frame):
            return None
        debugger.set_trace(frame)
        return debugger.trace_dispatch

    sys.settrace(watch)
    try:
        do()
    finally:
        sys.settrace(None)
    return reached[0]


def _handler(model: Model, choice: Choice) -> CodeType | None:
    """Return the code of the function that the event calls at its node, if any."""
    function: Callable[..., Any] | None
    if choice.what == "call":
        function = model.calls[str(choice.key)]
    else:
        name = HANDLERS.get(choice.what, "")
        if type(choice.key) is Due:
            name = "_call_due"  # this function calls the method
        elif choice.packet is not None and name and type(choice.packet.content) is Exchange:
            name = "_exchange"
        function = getattr(model.nodes[choice.node], name, None)
    if function is None:
        return None
    # the class may be watched (causeway.pycontrol.shared)
    function = inspect.unwrap(getattr(function, "__func__", function))
    return getattr(function, "__code__", None)


def _is_machinery(frame: FrameType) -> bool:
    """Return whether a frame runs code of Causeway or of the standard library, such as the loop of asyncio programs."""
    module = str(frame.f_globals.get("__name__", ""))
    if module.startswith("causeway."):
        return not module.startswith(USERS)
    name = frame.f_code.co_filename
    return name.startswith(STDLIB) and "site-packages" not in name
