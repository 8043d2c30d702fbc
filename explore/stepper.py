"""Step through a schedule by hand: forwards, backwards, or in the debugger.

A step backwards repeats the schedule without its last event, from the last earlier copy of the model. If nodes cannot
be copied (coroutines), it repeats it from the start, since models are small and deterministic.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from causeway.explore import debugger
from causeway.explore.model import Choice, Model
from causeway.explore.properties import Rules
from causeway.explore.schedule_page import describe_events
from causeway.explore.schedules import REST_STEPS, MakeModel, is_settled

HELP = """n      next event            b      back one event        g N    to event N (0: the start)
d      next event, in pdb    p CODE Python over `nodes` and `model`          q      quit"""
COPY_EVENTS = 50
"""The number of events between two copies of the model."""


@dataclass(eq=False)
class Stepper:
    """A model and its position in a schedule."""

    make: MakeModel
    plan: Sequence[int]
    rules: Rules
    model: Model = field(init=False)
    at: int = 0
    """The number of events that have happened."""

    def __post_init__(self) -> None:
        self.model = self.make()
        self._copies: dict[int, Model] = {}
        """Copies of the model by the number of events."""
        self._copy()

    def _copy(self) -> None:
        if self.at not in self._copies and self.model.protocol.can_be_copied:
            with suppress(TypeError):  # a file or a lock cannot be copied
                self._copies[self.at] = copy.deepcopy(self.model)

    def close(self) -> None:
        """End the model."""
        self.model.close()

    def following(self) -> Choice | None:
        """Return the next event: from the plan or, after the plan, a spontaneous one."""
        calm = self.at - len(self.plan)
        if calm < 0:
            choices = self.model.choices()
            return choices[self.plan[self.at] % len(choices)] if choices else None
        if calm == 0:
            self.model.calm_down()
        if calm >= REST_STEPS or is_settled(self.model, self.rules, calm - 1):
            return None
        return self.model.next_without_faults()

    @property
    def broken(self) -> str | None:
        """The violation so far."""
        if self.model.broken is not None:
            return self.model.broken
        if (found := self.rules.at_once(self.model)) is not None:
            return found
        return self.rules.at_end(self.model) if self.following() is None else None

    def forward(self, run: Callable[[Choice], None] | None = None) -> bool:
        """Execute the next event; return False if there is none."""
        choice = self.following()
        if choice is None or self.broken is not None:
            return False
        (run or self.model.do)(choice)
        self.at += 1
        if self.at % COPY_EVENTS == 0:
            self._copy()
        return True

    def to(self, event: int) -> None:
        """Go to the state after `event` events."""
        if event < self.at:
            self.at = max((at for at in self._copies if at <= event), default=0)
            self.model.close()
            self.model = copy.deepcopy(self._copies[self.at]) if self._copies else self.make()
        while self.at < event and self.forward():
            pass

    def to_the_end(self) -> None:
        """Go to the end of the schedule."""
        while self.forward():
            pass

    # ---- by hand ----------------------------------------------------------------------------------------------------
    def interact(self, ask: Callable[[str], str], report: Callable[[str], None]) -> None:
        """Read commands with `ask` and print their results with `report`, until `q` or the end of the input."""
        report(HELP)
        while True:
            try:
                what, _, rest = ask(f"{self.at}> ").strip().partition(" ")
            except EOFError:
                return
            if what == "q":
                return
            report(self._execute(what, rest))

    def _execute(self, what: str, rest: str) -> str:
        before = len(self.model.log)
        if what in ("n", ""):
            went = self.forward()
            return self._lines(before) if went else f"no event is left: {self.broken or 'no violation found'}"
        if what == "d":
            went = self.forward(lambda choice: debugger.run(self.model, choice))
            return self._lines(before) if went else "no event is left"
        if what == "b":
            self.to(max(0, self.at - 1))
            return self._lines(0, 3)
        if what == "g" and rest.strip().isdigit():
            self.to(int(rest))
            return self._lines(0, 3)
        if what == "p":
            return self._value(rest)
        return HELP

    def _value(self, text: str) -> str:
        """Evaluate an expression that the user typed at the prompt."""
        try:
            return repr(eval(text, {"nodes": self.model.nodes, "model": self.model, "world": self.model}))
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def _lines(self, before: int, last: int = 0) -> str:
        """Return the log since an event, or only its last lines, and the violation."""
        lines = describe_events(self.model.log, "")[:-1][before:]
        found = self.broken
        return "\n".join([*(lines[-last:] if last else lines), *([f"broken {found}"] if found else [])])
