"""The public interface: the names for protocols and studies, all importable from `causeway`.

Semantic versioning covers these names only; all other modules are internal.
"""

from causeway.aio import OutsideError, ProgramNode, ProgramParams, Programs, ProgramStudy, SoloLoop
from causeway.analysis.figures.data import Data as PlotData
from causeway.analysis.kinds.kind import plot_kind
from causeway.analysis.plots import Expected, Headline, Plot, Scene, State
from causeway.bridge.events import Actions, Kind, Window
from causeway.errors import RunError, UserError
from causeway.explore.checks import Checks
from causeway.explore.model import Budget
from causeway.explore.symmetry import SymmetricNodes
from causeway.network.battery import Battery
from causeway.network.faults import (
    Jammer,
    LinkFailure,
    Partition,
    random_jammers,
    random_link_failures,
    random_partitions,
)
from causeway.network.hexagons import hexagonal_places, tree_of
from causeway.network.links import Links, random_edges
from causeway.network.movement import Trace, read_traces, trace
from causeway.network.networks import (
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
from causeway.network.stays import Stays
from causeway.network.traffic import Sumo
from causeway.network.units import (
    UnitError,
    km,
    km_per_hour,
    metres,
    metres_per_second,
    mm,
    ms,
    ns,
    seconds,
    us,
)
from causeway.network.workload import Faults, Script, Segment, Workload, poisson
from causeway.pycontrol.checker import CausalityChecker
from causeway.pycontrol.dispatch import handles
from causeway.pycontrol.gradys import Drones
from causeway.pycontrol.node import EVERYONE, Node, PerNode
from causeway.pycontrol.node_requests import REQUEST_BYTES, Request
from causeway.pycontrol.node_timers import TimerHandle
from causeway.pycontrol.protocol import Context, Observer, Protocol
from causeway.pycontrol.repeated import NEVER_AGAIN
from causeway.pycontrol.sizes import size_of
from causeway.studies.model_study import ModelParams, ModelStudy
from causeway.studies.run import run
from causeway.studies.run_result import Run
from causeway.studies.simulation import Simulation, simulation
from causeway.studies.study import MS_PS, S_PS, Params, Study
from causeway.studies.sweep import Sweep, SweepError, compare, sweep
from causeway.toolchain.installation import version

__version__ = version()
"""The installed version of Causeway."""

__all__ = [
    "EVERYONE",
    "MS_PS",
    "NEVER_AGAIN",
    "REQUEST_BYTES",
    "S_PS",
    "WIRE",
    "WIRELESS",
    "WIRELESS_TCP",
    "AbstractNetwork",
    "Actions",
    "Battery",
    "Budget",
    "CausalityChecker",
    "Checks",
    "Context",
    "Drones",
    "Expected",
    "Faults",
    "Headline",
    "InetNetwork",
    "Jammer",
    "Kind",
    "LinkFailure",
    "Links",
    "MobileNetwork",
    "ModelParams",
    "ModelStudy",
    "Network",
    "Node",
    "Observer",
    "OutsideError",
    "Params",
    "Partition",
    "PerNode",
    "Plot",
    "PlotData",
    "ProgramNode",
    "ProgramParams",
    "ProgramStudy",
    "Programs",
    "Protocol",
    "Request",
    "Run",
    "RunError",
    "Scene",
    "Script",
    "Segment",
    "Simulation",
    "SoloLoop",
    "State",
    "Stays",
    "Study",
    "Sumo",
    "Sweep",
    "SweepError",
    "SymmetricNodes",
    "TimerHandle",
    "Trace",
    "UnitError",
    "UserError",
    "Window",
    "Workload",
    "__version__",
    "compare",
    "constant_delay",
    "handles",
    "hexagonal_places",
    "km",
    "km_per_hour",
    "metres",
    "metres_per_second",
    "mm",
    "ms",
    "normal_delay",
    "ns",
    "plot_kind",
    "poisson",
    "random_edges",
    "random_jammers",
    "random_link_failures",
    "random_partitions",
    "read_traces",
    "run",
    "seconds",
    "simulation",
    "size_of",
    "sweep",
    "trace",
    "tree_of",
    "uniform_delay",
    "us",
]
