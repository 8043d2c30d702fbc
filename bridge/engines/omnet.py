"""The engine omnet: the abstract network, INET's mobile one, or a user's own NED network on OMNeT++.

`RunSpec.options` (all optional):

    ini          another omnetpp.ini; its directory is the working directory of the simulation
    config       the configuration in it (default: General)
    ned_path     more directories with NED files
    libs         more model libraries, without lib and .so
    set          more settings, as in an ini file: {"**.rate": "5Mbps"}
    results      directory for OMNeT++'s own .sca and .vec files (default: none are kept)
    result_name  the name of these files (default: study and seed)
    pcap         directory for a capture file of every node (INET)
    eventlog     file for OMNeT++'s event log
    fingerprint  True: compute the fingerprint of the traffic between nodes (INET)
    ui           Qtenv: OMNeT++'s graphical environment; the run has no deadline then
    endpoint     the address to listen at (`bridge/transport.py`)

A network of your own needs one module for each node that talks to the bridge: `causeway.GateProcess`, a subclass of it,
or any module that implements `NodeHandler` (omnet/src/Bridge.h).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from causeway.bridge.engine import RunSpec, result_name
from causeway.bridge.session import NO_DEADLINE_S, PairSession, open_session
from causeway.errors import UserError
from causeway.network.networks import AbstractNetwork, InetNetwork, MobileNetwork, Network
from causeway.toolchain.adapters import Adapter, build, missing_tools
from causeway.toolchain.installation import SOURCES
from causeway.toolchain.omnet_find import Found, compiler_of, find_omnetpp, minor_of, missing_omnetpp

LIBRARY = "omnet/libcauseway_omnet.so"
INET_LIBRARY = "omnet-inet/libcauseway_inet.so"
ABSTRACT = SOURCES / "omnet" / "abstract"
CMDENV, QTENV = "Cmdenv", "Qtenv"
INTERFACES = ("lo", "wlan", "eth", "ppp")
"""The names of the interfaces of INET's nodes."""
OPTIONS = (
    "ini", "config", "ned_path", "libs", "set", "results", "result_name", "pcap", "eventlog", "fingerprint", "ui",
    "endpoint",
)  # fmt: skip


@dataclass(frozen=True)
class Launch:
    """The configuration with which opp_run is started."""

    ini: Path
    config: str = "General"
    ned_path: tuple[Path, ...] = ()
    libraries: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    run: int = 0
    """The number of the configuration's run."""


class OmnetEngine:
    """Runs a simulation in OMNeT++ (Cmdenv)."""

    name = "omnet"
    networks = (AbstractNetwork, MobileNetwork, InetNetwork)
    radios = ("unitdisk", "csma", "acking", "wifi")

    def missing(self, network: Network | None = None) -> str | None:
        """See `causeway.bridge.engine.Engine`."""
        found = find_omnetpp()
        if found is None:
            return missing_omnetpp()
        if isinstance(network, MobileNetwork | InetNetwork):
            from causeway.bridge.engines.omnet_inet import missing_inet

            if why := missing_inet(found):
                return why
            adapter = inet_adapter_of(found)
        else:
            adapter = adapter_of(found)
        return None if adapter.is_built() else missing_tools() or adapter.failure()

    def refused_choice(self, network: Network) -> bool:
        """Return whether the user chose an OMNeT++ or INET that cannot be used for a network."""
        found = find_omnetpp()
        if found is None:
            return "OMNETPP_ROOT" in os.environ
        needs_inet = isinstance(network, MobileNetwork | InetNetwork)
        return needs_inet and not found.has_inet and "INET_ROOT" in os.environ

    def adapters(self, network: Network | None = None) -> list[Adapter]:
        """Return the adapter for the installed OMNeT++, and the one for INET if there is an INET that can be used."""
        found = find_omnetpp()
        if found is None:
            return []
        with_inet = found.has_inet and not isinstance(network, AbstractNetwork)
        return [adapter_of(found), *([inet_adapter_of(found)] if with_inet else [])]

    def open(self, spec: RunSpec) -> PairSession:
        """Begin a run; compile the adapter before if it is out of date."""
        found = find_omnetpp()
        if found is None or (why := self.missing(spec.network)):
            raise UserError(f"engine omnet cannot run here: {missing_omnetpp() if found is None else why}")
        launch = launch_of(spec, found)
        for adapter in self.adapters(spec.network):
            build(adapter)
        if (ui := spec.options.get("ui", CMDENV)) != CMDENV:
            if why := missing_ui(found, ui):
                raise UserError(why)
            spec = replace(spec, deadline_s=NO_DEADLINE_S)
        environment = {
            "CAUSEWAY_ENGINE_VERSION": found.omnetpp_text if isinstance(spec.network, AbstractNetwork) else found.text,
            "PATH": f"{found.root / 'bin'}:/usr/local/bin:/usr/bin:/bin",
            "OMNETPP_IMAGE_PATH": str(found.root / "images"),
            **({} if launch.ini.is_relative_to(SOURCES) else {"CAUSEWAY_UNUSED_LINES": "1"}),
        }
        return open_session(spec, self.name, command(found, launch, spec), environment, launch.ini.parent)


def missing_ui(found: Found, ui: str) -> str | None:
    """Return the reason why a simulation cannot be shown, in one line; None if it can."""
    if ui not in (CMDENV, QTENV):
        return f"there is no user interface '{ui}'; there are {CMDENV}, {QTENV}"
    if ui == QTENV and not any((found.root / "lib").glob("*oppqtenv*")):
        return (
            f"the OMNeT++ in {found.root} was built without Qtenv: build it with WITH_QTENV=yes, or set OMNETPP_ROOT "
            "to one that was"
        )
    if ui == QTENV and not (os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")):
        return "Qtenv needs a screen: set DISPLAY (without one, `xvfb-run causeway ...`)"
    return None


def adapter_of(found: Found) -> Adapter:
    """Return the adapter for an OMNeT++."""
    folders = ("omnet/src", "omnet/abstract")
    return Adapter("OMNeT++", f"omnetpp-{found.version}", "omnet", (LIBRARY,), _variables(found), folders)


def inet_adapter_of(found: Found) -> Adapter:
    """Return the adapter for the INET of a pair. It is linked with the adapter for the OMNeT++."""
    assert found.inet_root is not None and found.inet_version is not None
    of_version = version_folder(found)
    variables = {**_variables(found), "INET_ROOT": str(found.inet_root), "VERSION": of_version}
    simulator = f"omnetpp-{found.version}-inet-{found.inet_version}"
    folders = ("omnet/inet", f"omnet/{of_version}")
    return Adapter("INET", simulator, "omnet/inet", (INET_LIBRARY,), variables, folders, adapter_of(found))


def version_folder(found: Found) -> str:
    """Return the folder below omnet/ with the adapter for the version of INET."""
    return f"inet-{minor_of(found.inet_version or '')}"


def _variables(found: Found) -> dict[str, str]:
    compiler = compiler_of(found.root)
    return {"OMNETPP_ROOT": str(found.root), **({"CXX": compiler} if compiler else {})}


def loadable(found: Found, library: str) -> str:
    """Return one of the adapter's libraries in the form for `opp_run -l`: without lib and .so."""
    path = (inet_adapter_of(found) if library == INET_LIBRARY else adapter_of(found)).product(library)
    return str(path.with_name(path.stem.removeprefix("lib")))


def launch_of(spec: RunSpec, found: Found) -> Launch:
    """Return the launch configuration for the network and the options of a run."""
    options = spec.options
    if isinstance(spec.network, MobileNetwork):
        from causeway.bridge.engines.omnet_inet import launch_inet

        base = launch_inet(spec.network, found)
    elif isinstance(spec.network, InetNetwork):
        from causeway.bridge.engines.omnet_inet import launch_own

        base = launch_own(spec.network, found)
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
        base.run,
    )


def command(found: Found, launch: Launch, spec: RunSpec) -> list[str]:
    """Return the command line of the simulation."""
    ned_path = dict.fromkeys(str(p) for p in (ABSTRACT, *launch.ned_path))
    is_ours = launch.ini.is_relative_to(SOURCES)
    settings = {
        **({"simtime-resolution": "ps"} if is_ours else {}),
        **launch.settings,
        "scheduler-class": '"causeway::CausewayScheduler"',
        "seed-set": str(spec.seed % (1 << 31)),
        "cmdenv-interactive": "false",
        "cmdenv-express-mode": "true",
        "print-undisposed": "false",  # otherwise they would follow an error, line by line, and hide it
        **_results(spec),
        **instruments(spec),
    }
    return [
        str(found.opp_run), "-u", str(spec.options.get("ui", CMDENV)), "-n", ":".join(ned_path),
        "-l", loadable(found, LIBRARY),
        *(part for library in launch.libraries for part in ("-l", library)),
        "-f", str(launch.ini), "-c", launch.config, "-r", str(launch.run),
        *(f"--{name}={value}" for name, value in settings.items()),
    ]  # fmt: skip


def instruments(spec: RunSpec) -> dict[str, str]:
    """Return the settings for captures, the event log and the fingerprint."""
    if isinstance(spec.network, AbstractNetwork) and (named := {"pcap", "fingerprint"} & set(spec.options)):
        raise UserError(f"the abstract network has no frames: {min(named)} is for networks of INET")
    settings: dict[str, str] = {}
    if folder := spec.options.get("pcap"):
        # real checksums, so that every frame can be written as bytes
        settings |= dict.fromkeys(("**.crcMode", "**.checksumMode", "**.fcsMode"), '"computed"')
        # a setting for each node, none for its single interfaces; the first matching setting counts
        settings |= dict.fromkeys((f"**.{interface}[*].numPcapRecorders" for interface in INTERFACES), "0")
        settings["**.recordPcap"] = "true"
        node = 'substringBeforeLast(fullPath(), ".")'
        settings["**.pcapRecorder[*].pcapFile"] = f'"{Path(folder).resolve()}/" + {node} + ".pcap"'
    if file := spec.options.get("eventlog"):
        settings |= {"record-eventlog": "true", "eventlog-file": f'"{Path(file).resolve()}"'}
    if spec.options.get("fingerprint"):
        settings |= {"fingerprint": '"0000-0000/~tNl"', "fingerprintcalculator-class": '"inet::FingerprintCalculator"'}
    return settings


def _results(spec: RunSpec) -> dict[str, str]:
    """Return the settings for OMNeT++'s own result files: a name for every run, or no files."""
    if "results" in spec.options:
        folder = Path(spec.options["results"]).resolve()
        files = {"scalar": "sca", "vector": "vec"}
        names = {f"output-{kind}-file": f'"{folder / result_name(spec)}.{end}"' for kind, end in files.items()}
        return {"result-dir": f'"{folder / result_name(spec)}"', **names}  # result-dir is for files that modules write
    return {"outputscalarmanager-class": '"causeway::NoScalars"', "**.vector-recording": "false"}
