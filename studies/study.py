"""The base class of studies. A study is the evaluation of a paper, or your own: network, protocol, sweeps, plots.

A study that ships with Causeway is a file or package in `studies/` and one line in `studies/registry.py`. Your own
study may be any Python file: `causeway run my_study.py`. Subclass `Study` and implement `network` and `protocol`.
"""

from __future__ import annotations

import difflib
import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel, ConfigDict

from causeway.analysis.plots import Expected, Headline, Plot, Scene
from causeway.errors import UserError
from causeway.network.networks import Network
from causeway.pycontrol.handlers import CLOSE, names_in
from causeway.pycontrol.protocol import Observer, Protocol

if TYPE_CHECKING:
    from causeway.explore.checks import Checks

MS_PS = 10**9
S_PS = 10**12


class Params(BaseModel):
    """Base class of a study's parameters. Unknown names, values of a wrong type, infinity and NaN are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class Study(ABC):
    """One evaluation: a network, a protocol, their parameters, and its plots. Instances have no state."""

    name: ClassVar[str]
    """The name in result folders; by default the name of the class."""
    title: ClassVar[str]
    """One line for reports. The default is the first line of the docstring, or else the name."""
    paper: ClassVar[str] = ""
    """Short name of the paper, as in its published numbers."""
    published: ClassVar[str] = ""
    """The file of published numbers, beside the file that defines the study (see studies/*/published.csv)."""
    files: ClassVar[Sequence[str]] = ()
    """Files that runs read, in addition to the study's own: names or patterns such as `data/*.csv`. They are copied to
    the workers of a cluster."""
    Params: ClassVar[type[Params]] = Params
    engines: ClassVar[tuple[str, ...]] = ()
    """The engines that may run the study, in order of preference. If it is empty, every engine that can build the
    network may. The first one that is installed is the default."""
    sweeps: ClassVar[Mapping[str, Sequence[Mapping[str, Any]]]] = {}
    """Named lists of points, for `causeway run STUDY --sweep NAME`. Each point overrides the default parameters. `make
    demo` runs the sweep 'demo'. The sweep 'smallest' calls every compiled kernel within a few events, so that `causeway
    build` can compile the kernels in advance."""
    headlines: ClassVar[Sequence[Headline]] = ()
    """The few numbers of a run that `causeway run` prints."""
    plots: ClassVar[Sequence[Plot]] = ()
    expected: ClassVar[Sequence[Expected]] = ()
    """Violations that the study intends to measure. All others are shown at the top of the report."""
    scene: ClassVar[Scene | None] = None
    """The layout of the animation in the report, for runs that recorded positions."""

    _by_default: ClassVar[frozenset[str]] = frozenset()
    """Values of the attributes name and title that the class itself does not define."""

    def __init_subclass__(cls, **more: Any) -> None:
        super().__init_subclass__(**more)
        given = {
            name
            for base in cls.__mro__
            for name in {"name", "title"} & vars(base).keys() - vars(base).get("_by_default", frozenset())
        }
        cls._by_default = frozenset({"name", "title"} - given)
        if "name" not in given:
            cls.name = cls.__name__
        if "title" not in given:
            first = (vars(cls).get("__doc__") or "").strip().partition("\n")[0]
            cls.title = first.rstrip(".") or str(cls.name)

    @abstractmethod
    def network(self, params: Any, seed: int) -> Network:
        """Return the network of a run. Use `seed` for random choices before the run (scripts, positions)."""

    @abstractmethod
    def protocol(self, params: Any) -> Protocol:
        """Return a fresh protocol for one run."""

    def reaction_ps(self, params: Any) -> int:
        """Return L, the reaction time of a node, which is also the lookahead; 1 ms by default."""
        return MS_PS

    def duration_ps(self, params: Any) -> int:
        """Return the time at which the run ends. With 0, the default, it ends when no event is left."""
        return 0

    def observers(self, params: Any, nodes: int) -> Sequence[Observer]:
        """Return the observers of a run, in addition to the digest; by default the causality checker."""
        from causeway.pycontrol.checker import CausalityChecker

        return [CausalityChecker(nodes)]

    def scalars(self, params: Any, scalars: dict[str, float]) -> dict[str, float]:
        """Return the scalars of a run to store. Override it to add derived ones, such as a ratio of two scalars."""
        return scalars

    def options(self, params: Any, engine: str) -> Mapping[str, Any]:
        """Return settings for one engine only, such as {"ini": ..., "config": ...} for omnet."""
        return {}

    def checks(self, params: Any) -> Checks:
        """Return the settings of `causeway check` for this study: smaller models, further properties."""
        from causeway.explore.checks import Checks

        return Checks()

    @classmethod
    def published_file(cls) -> Path | None:
        """Return the path of the published numbers; None if the study has none."""
        return Path(inspect.getfile(cls)).resolve().parent / cls.published if cls.published else None


ELSEWHERE = {"Parameters": "Params", "parameters": "Params", "until": "duration_ps", "until_ps": "duration_ps"}
"""Names of members in other interfaces, with the members of a study that correspond to them."""


def check_members(kind: type[Study]) -> None:
    """Refuse a study with a member that nothing uses and whose name is nearly that of a study's member.

    Raises:
        UserError: There is such a member, such as `duration` in place of `duration_ps`.
    """
    own = [base for base in kind.__mro__ if not base.__module__.startswith("causeway.")]
    inherited = {name for base in kind.__mro__ if base not in own for name in vars(base)}
    public = [name for name in inherited if not name.startswith("_")]
    functions = [inspect.unwrap(one) for base in own for one in vars(base).values() if inspect.isfunction(one)]
    used = set().union(*(names_in(one.__code__) for one in functions))
    for base in own:
        for name in vars(base).keys() - inherited - used:
            meant = [ELSEWHERE[name]] if name in ELSEWHERE else difflib.get_close_matches(name, public, 1, CLOSE)
            if meant and not name.startswith("_"):
                raise UserError(
                    f"study {kind.__name__}: nothing uses {name}; did you mean {meant[0]}? (Rename it if it is yours)"
                )
