"""Networks on OMNeT++: the abstract network, INET's mobile one, or somebody's own NED network.

`RunSpec.options` (all optional):

    ini        another omnetpp.ini; its directory is where the simulation runs
    config     the configuration in it (default: General)
    ned_path   more directories with NED files
    libs       more model libraries, without lib and .so
    set        more settings, as in an ini file: {"**.rate": "5Mbps"}
    results    directory for OMNeT++'s own .sca and .vec files (default: none are kept)

A network of your own needs one module for each node that talks to the bridge: `causeway.GateProcess`, a subclass of it,
or any module that implements `NodeHandler` (omnet/src/Bridge.h).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from causeway.bridge.edges import Edge, build, missing_tools
from causeway.bridge.engine import RunSpec
from causeway.bridge.engines.omnet_find import HOW_TO_GET_IT, Found, find_omnetpp
from causeway.bridge.errors import UserError
from causeway.bridge.network import AbstractNetwork, MobileNetwork, Network
from causeway.bridge.places import SOURCES
from causeway.bridge.session import PairSession, open_session

LIBRARY = "omnet/libcauseway_omnet.so"
INET_LIBRARY = "omnet-inet/libcauseway_inet.so"
ABSTRACT = SOURCES / "omnet" / "abstract"
OPTIONS = ("ini", "config", "ned_path", "libs", "set", "results", "endpoint")


@dataclass(frozen=True)
class Launch:
    """What opp_run is told."""

    ini: Path
    config: str = "General"
    ned_path: tuple[Path, ...] = ()
    libraries: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)


class OmnetEngine:
    """Runs a simulation in OMNeT++ (Cmdenv)."""

    name = "omnet"
    networks = (AbstractNetwork, MobileNetwork)
    radios = ("unitdisk", "csma", "acking", "wifi")

    def missing(self, network: Network | None = None) -> str | None:
        found = find_omnetpp()
        if found is None:
            return HOW_TO_GET_IT
        if isinstance(network, MobileNetwork):
            from causeway.bridge.engines.omnet_inet import missing_inet

            if why := missing_inet(found):
                return why
        return None if edge_of(found).is_built() else missing_tools()

    def edges(self) -> list[Edge]:
        found = find_omnetpp()
        return [] if found is None else [edge_of(found)]

    def open(self, spec: RunSpec) -> PairSession:
        found = find_omnetpp()
        if found is None or (why := self.missing()):
            raise UserError(f"engine omnet cannot run here: {HOW_TO_GET_IT if found is None else why}")
        build(edge_of(found))
        launch = launch_of(spec, found)
        environment = {
            "CAUSEWAY_ENGINE_VERSION": found.text if isinstance(spec.network, MobileNetwork) else found.omnetpp_text,
            "PATH": f"{found.root / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "OMNETPP_IMAGE_PATH": str(found.root / "images"),
        }
        return open_session(spec, self.name, command(found, launch, spec), environment, launch.ini.parent)


def edge_of(found: Found) -> Edge:
    """The edge for this installation: with the INET modules where there is an INET."""
    simulator, variables, products = f"omnetpp-{found.version}", {"OMNETPP_ROOT": str(found.root)}, [LIBRARY]
    if found.inet_root is not None:
        simulator += f"-inet-{found.inet_version}"
        variables["INET_ROOT"] = str(found.inet_root)
        products.append(INET_LIBRARY)
    return Edge("omnet", simulator, "omnet", tuple(products), variables)


def loadable(found: Found, library: str) -> str:
    """One of the edge's libraries as `opp_run -l` wants it: without lib and .so."""
    path = edge_of(found).product(library)
    return str(path.with_name(path.stem.removeprefix("lib")))


def launch_of(spec: RunSpec, found: Found) -> Launch:
    """What to start for this network and these options."""
    options = spec.options
    if isinstance(spec.network, MobileNetwork):
        from causeway.bridge.engines.omnet_inet import launch_inet

        base = launch_inet(spec.network, found)
    else:
        base = Launch(ABSTRACT / "omnetpp.ini")
    for name in options:
        if name not in OPTIONS:
            raise UserError(f"engine omnet has no option '{name}'; it has {', '.join(OPTIONS)}")
    ini = Path(options.get("ini", base.ini)).resolve()
    if not ini.exists():
        raise UserError(f"there is no ini file {ini}")
    own = (ini.parent,) if "ini" in options and "ned_path" not in options else ()
    return Launch(
        ini,
        str(options.get("config", "General" if "ini" in options else base.config)),
        (*base.ned_path, *own, *(Path(p).resolve() for p in options.get("ned_path", ()))),
        (*base.libraries, *(str(lib) for lib in options.get("libs", ()))),
        {**base.settings, **{str(k): str(v) for k, v in options.get("set", {}).items()}},
    )


def command(found: Found, launch: Launch, spec: RunSpec) -> list[str]:
    """The command line of the simulation."""
    ned_path = dict.fromkeys(str(p) for p in (ABSTRACT, *launch.ned_path))
    settings = {
        **launch.settings,
        "scheduler-class": '"causeway::CausewayScheduler"',
        "simtime-resolution": "ps",
        "seed-set": str(spec.seed % (1 << 31)),
        "cmdenv-interactive": "false",
        **_results(spec.options),
    }
    return [
        str(found.opp_run), "-u", "Cmdenv", "-n", ":".join(ned_path), "-l", loadable(found, LIBRARY),
        *(part for library in launch.libraries for part in ("-l", library)),
        "-f", str(launch.ini), "-c", launch.config, "-r", "0",
        *(f"--{name}={value}" for name, value in settings.items()),
    ]  # fmt: skip


def _results(options: Mapping[str, Any]) -> dict[str, str]:
    """Where OMNeT++ keeps its own result files, if at all."""
    if "results" in options:
        return {"result-dir": f'"{Path(options["results"]).resolve()}"'}
    return {"outputscalarmanager-class": '"causeway::NoScalars"', "**.vector-recording": "false"}
