"""A study in ten lines: a coroutine, and a network to run it on.

The network is abstract (any node reaches any other; inline, omnet) or, with `--set network=walking`, hosts that walk on
one wireless channel (omnet with INET, ns-3). There, a node receives from the nodes in reach, and streams are simulated
TCP.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from math import ceil, sqrt
from typing import Any, ClassVar, Literal

from pydantic import Field

from causeway.aio.programs import Main, Programs
from causeway.errors import UserError
from causeway.network.networks import AbstractNetwork, MobileNetwork, Network, normal_delay
from causeway.network.workload import Segment, Workload
from causeway.pycontrol.protocol import Observer
from causeway.studies.study import S_PS, Params, Study

US_PS = 10**6


class ProgramParams(Params):
    """The parameters of a program. Subclass it for your own parameters, which `main` reads from `node.params`."""

    nodes: int = Field(10, ge=1, le=65_000)
    duration_s: float = Field(60.0, gt=0, description="the run ends at this time, or when no events are left")
    network: Literal["abstract", "walking"] = "abstract"
    delay_ms: float = Field(20.0, ge=0, description="abstract: mean delay of a packet")
    jitter_ms: float = Field(5.0, ge=0, description="abstract: its standard deviation")
    loss: float = Field(0.0, ge=0, lt=1, description="abstract: share of packets that are lost")
    speed: float = Field(1.389, ge=0, description="walking: speed of a host in metres a second")
    spacing_m: float = Field(40.0, gt=0, description="walking: side of the square area for each host, in metres")
    radio: Literal["wifi", "unitdisk"] = "wifi"
    rate: float = Field(0.0, ge=0, description="rate of the workload's broadcasts per second (node.asked())")
    size_bytes: int = Field(100, ge=1, description="size of each of these broadcasts")
    reaction_us: int = Field(100, ge=1, description="reaction time of a node")


class ProgramStudy(Study):
    """Runs `main(node)` on every node. Subclass it with `name`, `title` and `main`."""

    Params: ClassVar[type[Params]] = ProgramParams
    engines: ClassVar[tuple[str, ...]] = ("inline", "omnet", "ns3")
    errors: ClassVar[Literal["end", "keep"]] = "end"
    """"end": an error that a program does not handle ends the run; "keep": the error is only counted."""
    executor: ClassVar[Literal["refuse", "at once"]] = "refuse"
    """"refuse": functions for a thread (`asyncio.to_thread`, `run_in_executor`) are refused; "at once": they are called
    directly."""

    def network(self, params: ProgramParams, seed: int) -> Network:
        """Return the network of the parameters."""
        workload = Workload(params.nodes, size_bytes=params.size_bytes, segments=(Segment(0, params.rate),))
        if params.network == "walking":
            return walking(params, workload)
        delays = normal_delay(params.delay_ms, params.jitter_ms, min(params.delay_ms, 0.001))
        return AbstractNetwork(params.nodes, delay=delays, workload=workload, loss=params.loss)

    def program(self) -> Main:
        """Return the coroutine function `main`."""
        main = inspect.getattr_static(self, "main", None)
        main = main.__func__ if isinstance(main, staticmethod) else main
        if not inspect.iscoroutinefunction(main):
            raise UserError(f"study {self.name} has no program: set main = <a coroutine function with one argument>")
        return main

    def protocol(self, params: ProgramParams) -> Programs:
        """Return the programs as a protocol."""
        programs = Programs(self.program(), errors=self.errors, executor=self.executor)
        programs.params = params
        return programs

    def reaction_ps(self, params: ProgramParams) -> int:
        """Return the reaction time."""
        return params.reaction_us * US_PS

    def duration_ps(self, params: ProgramParams) -> int:
        """Return the duration of a run."""
        return round(params.duration_s * S_PS)

    def observers(self, params: ProgramParams, nodes: int) -> list[Observer]:
        """Return no observers, since most programs do not report broadcasts.

        Override it to return `[CausalityChecker(nodes)]` if your program does.
        """
        return []

    def options(self, params: ProgramParams, engine: str) -> Mapping[str, Any]:
        """Return no options. Refuse network=walking on the engine inline."""
        if params.network == "walking" and engine == "inline":
            raise UserError("engine inline has no radio: use --engine ns3 or --engine omnet with network=walking")
        return {}


def walking(params: ProgramParams, workload: Workload) -> MobileNetwork:
    """Return a square in which hosts start anywhere and walk. Node 0 is a station in the middle."""
    cells = ceil(sqrt(params.nodes))
    middle_mm = round(params.spacing_m * 500 * cells)
    return MobileNetwork(
        station_xy_mm=((middle_mm, middle_mm),), hosts=params.nodes - 1, workload=workload, radio=params.radio,
        speed_mm_s=round(params.speed * 1000), covered_only=False, area_mm=(0, 0, 2 * middle_mm, 2 * middle_mm),
    )  # fmt: skip
