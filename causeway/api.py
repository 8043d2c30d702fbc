"""The public interface: the names for protocols and studies, all importable from `causeway`.

Semantic versions promise these names and nothing else; all other modules are internal.
"""

from causeway.aio import OutsideError, ProgramNode, ProgramParams, Programs, ProgramStudy, SoloLoop
from causeway.analysis.kinds.kind import plot_kind
from causeway.analysis.plots import Expected, Headline, Plot, Scene, State
from causeway.bridge.errors import RunError, UserError
from causeway.bridge.events import Actions, Kind, Window
from causeway.bridge.network import (
    WIRE,
    WIRELESS,
    WIRELESS_TCP,
    AbstractNetwork,
    InetNetwork,
    MobileNetwork,
    Network,
    constant_delay,
    normal_delay,
    uniform_delay,
)
from causeway.bridge.places import version
from causeway.bridge.traces import Trace, read_traces, trace
from causeway.bridge.trouble import Cut, Jammer, Partition, random_cuts, random_jammers, random_partitions
from causeway.bridge.workload import Faults, Script, Segment, Workload
from causeway.pycontrol.check.checks import Checks
from causeway.pycontrol.check.symmetry import Alike
from causeway.pycontrol.check.world import Budget
from causeway.pycontrol.checker import CausalityChecker
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.protocol import Context, Observer, Protocol
from causeway.pycontrol.repeated import NEVER_AGAIN
from causeway.studies.hexagons import hexagonal_places, tree_of
from causeway.studies.small import SmallParams, SmallStudy
from causeway.studies.study import MS_PS, S_PS, Params, Study

__version__ = version()
"""The installed version of Causeway."""

__all__ = [
    "EVERYONE",
    "MS_PS",
    "NEVER_AGAIN",
    "S_PS",
    "WIRE",
    "WIRELESS",
    "WIRELESS_TCP",
    "AbstractNetwork",
    "Actions",
    "Alike",
    "Budget",
    "CausalityChecker",
    "Checks",
    "Context",
    "Cut",
    "Expected",
    "Faults",
    "Headline",
    "InetNetwork",
    "Jammer",
    "Kind",
    "MobileNetwork",
    "Network",
    "Node",
    "Observer",
    "OutsideError",
    "Params",
    "Partition",
    "PerNode",
    "Plot",
    "ProgramNode",
    "ProgramParams",
    "ProgramStudy",
    "Programs",
    "Protocol",
    "RunError",
    "Scene",
    "Script",
    "Segment",
    "SmallParams",
    "SmallStudy",
    "SoloLoop",
    "State",
    "Study",
    "Trace",
    "UserError",
    "Window",
    "Workload",
    "__version__",
    "constant_delay",
    "hexagonal_places",
    "normal_delay",
    "plot_kind",
    "random_cuts",
    "random_jammers",
    "random_partitions",
    "read_traces",
    "trace",
    "tree_of",
    "uniform_delay",
]
