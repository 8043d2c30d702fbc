"""Models of Dynamic Clock Sets: a few processes, a script for each, and every order of their events.

A state consists of the processes, their positions in the scripts, and the packets in flight, which may overtake each
other. `explore` visits every state; a `Model` can also be driven one choice at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from typing import Any

from causeway.pycontrol.protocols.dcs.node import DEACTIVATE, REMOVE, Message, Process

BROADCAST, EXPAND, FLEE = "broadcast", "expand", "flee"
"""Steps of a script besides DEACTIVATE and REMOVE. FLEE: increment component 0 from now on."""


class Wrong(AssertionError):
    """A violation of what must always hold."""


class Model:
    """Processes, scripts and packets in flight."""

    def __init__(
        self, scripts: Sequence[Sequence[Any]], size: int, components: int = 1, exact: bool = False,
        kind: type[Process] = Process, choose: Callable[..., tuple[int, ...]] | None = None, high: Sequence[int] = (),
    ) -> None:  # fmt: skip
        """`exact`: every process has an entry of its own, so causality must hold, not only with high probability.
        `choose`: what processes assign themselves to, by default the highest component. At the start the processes in
        `high` increment that, the others component 0."""
        n = len(scripts)
        self.exact, self.scripts = exact, [tuple(s) for s in scripts]
        f = (lambda i: (i,)) if exact else (lambda i: (i % size,))
        chosen = choose or (lambda p, limit, avoid: (limit - 1,))
        first = [(components - 1,) if i in high else (0,) for i in range(n)]
        entries = n if exact else size
        self.processes = [kind(i, n, f, entries, first[i], components, chosen) for i in range(n)]
        self.flying: frozenset[tuple[int, Any]] = frozenset()
        self.past: dict[int, frozenset[int]] = {}
        self.rounds = 0
        self.log: tuple[str, ...] = ()

    # ---- choices --------------------------------------------------------------------------------------------------
    def choices(self) -> list[tuple[int, Any]]:
        """(process, packet to receive, or None for the next step of its script)."""
        steps = [(i, None) for i, script in enumerate(self.scripts) if script]
        return steps + sorted(self.flying, key=lambda c: (c[0], repr(c[1])))

    def take(self, choice: tuple[int, Any]) -> Model:
        """Return the model after a choice, without changing this one."""
        i, packet = choice
        model = self._clone(i)
        if packet is None:
            model._step(model.processes[i])
        else:
            model.flying -= {choice}
            model._receive(model.processes[i], packet)
        return model

    def _clone(self, i: int) -> Model:
        model, p = copy(self), copy(self.processes[i])
        p.d = [list(c) for c in p.d]
        p.incarnation, p.answers = dict(p.incarnation), dict(p.answers)
        p.waiting, p.sent, p.delivered = list(p.waiting), list(p.sent), set(p.delivered)
        model.processes = [*self.processes[:i], p, *self.processes[i + 1 :]]
        model.scripts = list(self.scripts)
        model.past = dict(self.past)
        return model

    def _step(self, p: Process) -> None:
        action, *rest = self.scripts[p.i]
        self.scripts[p.i] = tuple(rest)
        self.log += (f"{p.i} {action}",)
        if action == BROADCAST:
            id_ = 100 * p.i + len(p.sent)
            self.past[id_] = frozenset(p.delivered)
            self._send(p.i, None, p.broadcast(id_))
            p.deliver_waiting()
        elif action == EXPAND:
            p.expand()
        elif action == FLEE:
            p.assign(1)
        elif mail := p.begin(action, 10 * p.i + len(rest)):
            self.rounds += 1
            for to, packet in mail:
                self._send(p.i, to, packet)

    def _receive(self, p: Process, packet: Any) -> None:
        self.log += (f"{p.i} <- {packet}",)
        if isinstance(packet, Message):
            delivered = set(p.delivered)
            for m in p.receive(packet):
                if m.id in delivered:
                    raise Wrong(f"{m.id} is delivered twice at {p.i}: {self.log}")
                if self.exact and not self.past[m.id] <= delivered:
                    raise Wrong(f"{m.id} is delivered before its past at {p.i}: {self.log}")
                delivered.add(m.id)
        else:
            for to, answer in p.read(packet):
                self._send(p.i, to, answer)

    def _send(self, sender: int, to: int | None, packet: Any) -> None:
        everyone = [q for q in range(len(self.processes)) if q != sender] if to is None else [to]
        self.flying |= {(q, packet) for q in everyone}

    # ---- states ---------------------------------------------------------------------------------------------------
    def key(self) -> Any:
        """Equal for equal states."""
        past = tuple(sorted((id_, tuple(sorted(p))) for id_, p in self.past.items()))
        return (self.flying, tuple(self.scripts), self.rounds, past, tuple(_key(p) for p in self.processes))

    def check_end(self) -> None:
        """Check a quiescent model: Theorem 3 holds, and rounds have ended everywhere."""
        for p in self.processes:
            if p.waiting or len(p.delivered) != len(self.past):
                stuck = [m.id for m in p.waiting]
                raise Wrong(f"{stuck} are stuck at {p.i}: {self.log}")
            if p.blocked or p.answers:
                raise Wrong(f"{p.i} is blocked for ever: {self.log}")
            if p.incarnation != self.processes[0].incarnation:
                raise Wrong(f"{p.i} and 0 disagree on what was removed: {self.log}")


def _key(p: Process) -> Any:
    return (
        tuple(map(tuple, p.d)), p.active, p.s_incr, tuple(sorted(p.incarnation.items())), tuple(p.waiting),
        frozenset(p.delivered), tuple(p.sent), p.blocked, tuple(p.answers.items()),
    )  # fmt: skip


def take(here: Model, choice: tuple[int, Any]) -> Model:
    """`Model.take`, where whatever a process trips over is Wrong too."""
    try:
        return here.take(choice)
    except Wrong:
        raise
    except (AssertionError, IndexError, KeyError) as error:
        raise Wrong(f"{error!r} after {here.log} at {choice}") from error


def explore(model: Model) -> Iterator[Model]:
    """Visit every reachable state; yield the final states, which were checked."""
    seen, stack = {model.key()}, [model]
    while stack:
        here = stack.pop()
        choices = here.choices()
        if not choices:
            here.check_end()
            yield here
        for choice in choices:
            there = take(here, choice)
            key = there.key()
            if key not in seen:
                seen.add(key)
                stack.append(there)


__all__ = ["BROADCAST", "DEACTIVATE", "EXPAND", "FLEE", "REMOVE", "Model", "Wrong", "explore", "take"]
