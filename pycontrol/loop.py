"""The controller's loop: windows in, actions out, until the engine reports the end of the run. Start reading here.

`windows` connects the engine, the protocol, the observers and the validation of what crosses the bridge.
`run_protocol` exhausts it; a stepped run (`stepping.py`) pauses in it.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter  # imported by name, since during a run `time.perf_counter` gives handlers simulated time
from typing import Protocol as TypingProtocol

from causeway.bridge.engine import Engine, Finish, RunSpec, Session
from causeway.bridge.events import Actions, Kind, Window
from causeway.bridge.memory import Allowance, OutOfMemory
from causeway.bridge.validation_finish import check_finish
from causeway.bridge.validation_frames import FrameValidator
from causeway.bridge.validation_spec import check_spec
from causeway.errors import RunError
from causeway.pycontrol.animation_samples import Places, wanted
from causeway.pycontrol.collector import only_new_objects_collected
from causeway.pycontrol.debugging import breakpoints
from causeway.pycontrol.digest import Digest
from causeway.pycontrol.interrupts import noticing_interrupts
from causeway.pycontrol.overload import out_of_memory_error
from causeway.pycontrol.own_code import own_code
from causeway.pycontrol.protocol import Context, Observer, Protocol
from causeway.pycontrol.protocol_calls import answer_to, collect_scalars, finished, started
from causeway.pycontrol.watchdog import TookTooMuchMemory, watchdog


@dataclass(frozen=True)
class Outcome:
    """The results of a run."""

    engine: str
    engine_version: str
    digest: str
    finish: Finish
    scalars: Mapping[str, float]
    engine_scalars: Mapping[tuple[str, str], float]
    samples: Mapping[tuple[str, str], tuple[list[int], list[float]]]
    wall_s: float
    controller_s: float
    """Wall time spent in the protocol and its observers."""
    windows: int
    events: int


@dataclass
class Progress:
    """The progress of a run, for progress bars."""

    now_ps: int = 0
    events: int = 0
    windows: int = 0
    every: int = field(default=64, repr=False)
    """The number of windows between two reports."""


def passive_mask(protocol: Protocol) -> int:
    """Return the protocol's passive kinds as the bit mask of the handshake."""
    mask = 0
    for kind in protocol.passive:
        mask |= 1 << int(kind)
    return mask


class Steps(TypingProtocol):
    """Decides where a run pauses, by yielding."""

    def answer(self, window: Window, protocol: Protocol) -> Generator[None, None, Actions]:
        """Return the protocol's actions for a window."""
        ...

    def end(self, end_ps: int) -> Generator[None, None, None]:
        """Handle the time between the last event and the end of the run."""
        ...


@contextlib.contextmanager
def controlled(memory: Allowance | None = None) -> Iterator[None]:
    """Watch and confine the protocol's code while the loop runs; `memory` is the limit of a run that has begun."""
    with watchdog(run=memory or Allowance()), breakpoints(), noticing_interrupts(), own_code("a protocol"):
        yield


@controlled()
@only_new_objects_collected()
def run_protocol(
    engine: Engine,
    spec: RunSpec,
    protocol: Protocol,
    observers: Sequence[Observer],
    report: Callable[[Progress], None] | None = None,
    steps: Steps | None = None,
) -> Outcome:
    """Run one protocol on one engine from beginning to end.

    The outcome includes the observers' scalars and samples. `report` is called once every `Progress.every` windows. A
    failure of the engine or the protocol raises RunError, and a wrong `spec` raises UserError.
    """
    run = windows(engine, spec, protocol, observers, report, steps)
    while True:
        try:
            next(run)
        except StopIteration as end:
            return end.value


def windows(
    engine: Engine, spec: RunSpec, protocol: Protocol, observers: Sequence[Observer],
    report: Callable[[Progress], None] | None = None, steps: Steps | None = None,
) -> Generator[None, None, Outcome]:  # fmt: skip
    """Pass windows to the protocol, and its actions to the engine, until the run ends; return the outcome.

    It pauses where `steps` yields, and never without `steps`. Closing the generator ends the run.
    """
    digest = Digest()
    context = Context(
        spec.network.nodes, spec.seed, spec.reaction_ps, [digest, *observers], network=spec.network,
        reports_all_copies=spec.reports_all_copies,
        longest_delay_ps=getattr(spec.network, "longest_delay_ps", None), duration_ps=spec.duration_ps,
    )  # fmt: skip
    progress, began = Progress(), perf_counter()
    controller_s, last_ps, happened = 0.0, 0, False
    check_spec(spec)
    validator = FrameValidator(spec)
    places = Places(spec.network) if wanted(spec.network) else None
    session = engine.open(spec)
    try:
        started(protocol, context)
        look = validator.follow if getattr(session, "makes_its_events", False) else validator.check_window
        while not isinstance(window := session.next(), Finish):
            entered = perf_counter()
            look(window)
            if places is not None:
                window = places.take(window)
            actions = answer_to(window, protocol) if steps is None else (yield from steps.answer(window, protocol))
            validator.check_actions(actions, window)
            answered = perf_counter()
            if window.reply:
                session.answer(actions)
            elif len(actions):
                raise RunError(f"{type(protocol).__name__} acts on a kind of event that it declares passive")
            resumed = perf_counter()  # from here on, the engine works in parallel
            if len(actions):
                digest.sent(actions)
            if places is not None:
                places.record_sends(actions)
            context.notify_many()
            if len(window):
                last_ps = int(window.time_ps[-1])
                happened = happened or bool((window.kind != Kind.STATION).any())
            controller_s += answered - entered + perf_counter() - resumed
            progress.windows += 1
            progress.events += len(window)
            progress.now_ps = window.end_ps
            if report is not None and progress.windows % progress.every == 0:
                report(progress)
        check_finish(window, spec, last_ps, happened, validator.broadcasts)
        context.notify_observers()
        if steps is not None:
            yield from steps.end(window.end_ps)
        finished(protocol, window.end_ps)
        scalars = collect_scalars(protocol, window.end_ps)
        for observer in observers:
            scalars.update(collect_scalars(observer, window.end_ps))
            context.samples.update(getattr(observer, "samples", {}))
        if places is not None:
            context.samples.update(places.samples())
        return Outcome(
            session.engine, session.engine_version, digest.hexdigest(), window, scalars,
            {**window.measured, **context.scalars}, context.samples, perf_counter() - began, controller_s,
            progress.windows, progress.events,
        )  # fmt: skip
    except (TookTooMuchMemory, OutOfMemory, MemoryError) as error:
        raise out_of_memory_error(error, protocol, session, progress.now_ps) from None
    finally:
        _end(session, protocol)


def _end(session: Session, protocol: Protocol) -> None:
    """End the simulation, and discard the resources that the protocol holds for the run."""
    try:
        session.close()
    finally:
        protocol.discard()
