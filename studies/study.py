"""What a study is: one paper's evaluation (or your own): network, protocol, parameters, sweeps, plots.

A study is one file or one package in `studies/` and one line in `studies/registry.py`; your own may be any file.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, ConfigDict

from causeway.analysis.plots import Expected, Headline, Plot, Scene
from causeway.bridge.network import Network
from causeway.pycontrol.protocol import Observer, Protocol

if TYPE_CHECKING:
    from causeway.pycontrol.check.checks import Checks

MS_PS = 10**9
S_PS = 10**12


class Params(BaseModel):
    """Base of a study's parameters: unknown names are refused, values are checked. No number is infinite or none."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Study(ABC):
    """One evaluation. Subclass it; instances hold no state."""

    name: ClassVar[str]
    title: ClassVar[str]
    paper: ClassVar[str] = ""
    """Short name of the paper, as in its published numbers."""
    published: ClassVar[str] = ""
    """The file of published numbers (studies/*/published.csv are examples), beside the file that defines the study."""
    files: ClassVar[Sequence[str]] = ()
    """Files beside the study's own that its runs read (names or patterns such as `data/*.csv`): they go along when a
    cluster runs it."""
    Params: ClassVar[type[Params]] = Params
    engines: ClassVar[tuple[str, ...]] = ()
    """Only these engines, the best first; (): every engine that builds its network, in the order of the registry. The
    first one that is not missing here is the default."""
    sweeps: ClassVar[Mapping[str, Sequence[Mapping[str, Any]]]] = {}
    """Named lists of points: `causeway run STUDY --sweep NAME`. Each point overrides the default parameters.
    'demo' is what `make demo` runs; 'smallest' calls every compiled kernel within a few events, so that
    `causeway build` can compile them ahead."""
    headlines: ClassVar[Sequence[Headline]] = ()
    """The few numbers that say how a run went: `causeway run` prints them."""
    plots: ClassVar[Sequence[Plot]] = ()
    expected: ClassVar[Sequence[Expected]] = ()
    """What runs get wrong because that is what the study measures; whatever else is wrong heads the report."""
    scene: ClassVar[Scene | None] = None
    """How the report makes a moving picture of a run that recorded where things were."""

    @abstractmethod
    def network(self, params: Any, seed: int) -> Network:
        """The network of a run. `seed` is for choices made before the run (scripts, positions)."""

    @abstractmethod
    def protocol(self, params: Any) -> Protocol:
        """A fresh protocol for one run."""

    def reaction_ps(self, params: Any) -> int:
        """L, the reaction time of a node: 1 ms, unless a study says otherwise."""
        return MS_PS

    def duration_ps(self, params: Any) -> int:
        """When the run ends; 0: when nothing is left to happen."""
        return 0

    def observers(self, params: Any, nodes: int) -> list[Observer]:
        """Observers of a run besides the digest; by default the causality checker."""
        from causeway.pycontrol.checker import CausalityChecker

        return [CausalityChecker(nodes)]

    def scalars(self, params: Any, scalars: dict[str, float]) -> dict[str, float]:
        """Last touch on a run's scalars (e.g. a ratio of two of them)."""
        return scalars

    def options(self, params: Any, engine: str) -> Mapping[str, Any]:
        """What only one engine understands (e.g. {"ini": ..., "config": ...} for omnet)."""
        return {}

    def checks(self, params: Any) -> Checks:
        """What `causeway check` should know: smaller worlds, what else must hold."""
        from causeway.pycontrol.check.checks import Checks

        return Checks()

    @classmethod
    def published_file(cls) -> Path | None:
        """The file of published numbers, if the study has one."""
        return Path(inspect.getfile(cls)).resolve().parent / cls.published if cls.published else None
