"""`causeway.simulation`: a run that the caller can pause in order to inspect its nodes and to act on them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any, Self, Unpack, overload

from causeway.bridge.validation_kernel import FAR_PS
from causeway.bridge.validation_messages import MOST_BYTES
from causeway.errors import UserError, shown_type
from causeway.network.field_shapes import WHOLE
from causeway.network.networks import Network
from causeway.pycontrol.node import Node
from causeway.pycontrol.protocol import Protocol
from causeway.pycontrol.protocol_errors import shown
from causeway.pycontrol.stepping import Pauses
from causeway.signatures import checked_arguments
from causeway.studies.protocol_study import MakeNetwork
from causeway.studies.run_request import AnyProtocol, AnyStudy, RunRequest, Setting, point_from, takes_setting
from causeway.studies.run_result import Run
from causeway.studies.runner import Job
from causeway.studies.stepped_run import N, SteppedRun

INJECTED = 1 << 31
"""The `number` that `on_broadcast` gets for the first injected broadcast."""


class Simulation(SteppedRun[N]):
    """A run that the caller controls. Make it with `simulation` in a `with` block, which ends it."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self._injected = 0

    def __enter__(self) -> Self:
        self._pauses = Pauses(self._prepare().reaction_ps)
        self._begin(self._pauses)
        self._continue_to_pause(
            until_ps=FAR_PS, each_window=True
        )  # window 0: the nodes exist, and no event has happened
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        self.close()

    @property
    def now_ps(self) -> int:
        """The simulated time. All events up to this time have happened, and no later ones."""
        return self._pauses.now_ps

    def step(self) -> bool:
        """Continue to the end of the next window of events; return False if the run is over."""
        return self._continue_to_pause(until_ps=FAR_PS, each_window=True)

    def run_until(self, time_ps: int) -> bool:
        """Continue until all events up to a time have happened; return False if the run is over.

        Args:
            time_ps: The instant, such as `seconds(2)`.

        Raises:
            UserError: The instant has passed.
        """
        if isinstance(time_ps, bool) or not isinstance(time_ps, int):
            raise UserError(f"run_until takes a time in ps, as seconds(2) gives it, not {shown_type(time_ps)}")
        if time_ps < self.now_ps:
            raise UserError(f"the simulated time is {self.now_ps / 1e12:g} s, which is later than {time_ps / 1e12:g} s")
        return self._continue_to_pause(until_ps=time_ps, each_window=False)

    def inject(self, node: int, handler: Callable[[N], object] | None = None, *, size_bytes: int = 100) -> None:
        """Make a node broadcast, or call a function as one of its handlers.

        The call happens when the simulation continues. After `step`, it is made at the present time; otherwise it is
        made at the next event at which the engine waits for an answer. The handler sees the time of the call in
        `now_ps`.
        Actions of the node take effect one reaction time later, as usual.

        Args:
            node: The node's id.
            handler: A function that is called with the node. By default, `on_broadcast` of the node is called.
            size_bytes: The size of the message for `on_broadcast`.
        """
        nodes = self.nodes
        if self.is_over or self._pauses.ended:
            raise UserError(
                "no event is left in the run, so nothing can be injected; set a timer in a node to keep the run going"
            )
        for name, value, most in (("node", node, len(nodes) - 1), ("size_bytes", size_bytes, MOST_BYTES)):
            if not WHOLE.fits(value) or not 0 <= value <= most:
                raise UserError(f"inject was given {name}={shown(value)}; allowed: a whole number, 0 to {most}")
        if handler is None:
            number = INJECTED + self._injected
            self._injected += 1
            self._pauses.calls.append((node, lambda one: one.on_broadcast(number, size_bytes)))
            return
        if not callable(handler):
            raise UserError(f"inject was given {shown(handler)}; allowed: a function of the node, or None")
        function: Any = handler
        self._pauses.calls.append((node, function))

    def result(self) -> Run[N]:
        """Continue to the end of the run, and return its results."""
        self._continue_to_pause(until_ps=FAR_PS, each_window=False)
        return self._result()

    def _continue_to_pause(self, until_ps: int, each_window: bool) -> bool:
        """Continue to the next pause; return False if the run is over."""
        self._started  # noqa: B018
        self._pauses.until_ps, self._pauses.each_window = until_ps, each_window
        return self._advance()


@overload
def simulation(
    protocol: type[N] | Callable[[int], N],
    network: Network | MakeNetwork,
    *,
    seed: int = 1,
    params: Mapping[str, Any] | None = None,
    **setting: Unpack[Setting],
) -> Simulation[N]: ...
@overload
def simulation(
    protocol: AnyStudy | type[Protocol] | Callable[[], Protocol],
    network: Network | MakeNetwork | None = None,
    *,
    seed: int = 1,
    params: Mapping[str, Any] | None = None,
    **setting: Unpack[Setting],
) -> Simulation[Node]: ...
@checked_arguments
@takes_setting
def simulation(
    protocol: AnyStudy | AnyProtocol,
    network: Network | MakeNetwork | None = None,
    *,
    seed: int = 1,
    params: Mapping[str, Any] | None = None,
    **setting: Unpack[Setting],
) -> Simulation[Any]:
    """Return a run that the caller controls step by step. The arguments are those of `run`.

        with causeway.simulation(Flooder, causeway.AbstractNetwork(20), broadcasts=causeway.poisson(5)) as sim:
            sim.run_until(seconds(2))
            print(sim.nodes[3].heard)
            sim.inject(3)
            run = sim.result()

    Between two steps the caller may take any time, and clocks and random numbers are the real ones.
    """
    (job,) = RunRequest.of(protocol, network, setting).jobs([point_from(params)], [seed])
    return Simulation(job)
