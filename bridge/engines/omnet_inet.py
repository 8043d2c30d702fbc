"""Networks of INET on OMNeT++: the ini file, configuration and libraries for the mobile network and for users' own."""

from __future__ import annotations

from pathlib import Path

from causeway.bridge.engines.omnet import INET_LIBRARY, LIBRARY, Launch, loadable, version_folder
from causeway.errors import UserError
from causeway.network.networks import InetNetwork, MobileNetwork
from causeway.toolchain.installation import SOURCES
from causeway.toolchain.model_projects import find_models
from causeway.toolchain.omnet_find import Found, fitting_inet

INET_ADAPTER = SOURCES / "omnet" / "inet"
CONFIGS = {"unitdisk": "UnitDisk", "csma": "Csma", "acking": "Acking", "wifi": "Wifi"}
"""radio -> configuration of omnet/inet/omnetpp.ini"""

INET_FOLDERS = ("src", "examples", "tutorials", "showcases")
"""The folders of an INET with NED packages."""

SAME_INSTANT = {"**.sameTransmissionStartTimeCheck": '"ignore"'}
"""From INET 4.6 on, two frames that begin at one instant are an error. Nodes act at exact instants."""

WIFI_MBPS = (6, 9, 12, 18, 24, 36, 48, 54)
"""The rates of 802.11g without those of 802.11b."""


def missing_inet(found: Found) -> str | None:
    """Return the reason why INET cannot be used, and the remedy, in one line; None if it can."""
    if found.inet_root is None:
        return (
            f"no INET found beside OMNeT++: build INET {fitting_inet(found.version)} (inet.omnetpp.org) in a directory "
            "inet* beside it or set INET_ROOT=...; or use --engine ns3"
        )
    return found.inet_refusal


def ned_folders(found: Found) -> tuple[Path, ...]:
    """Return the roots of the adapter's NED packages for the version of INET."""
    return INET_ADAPTER, SOURCES / "omnet" / version_folder(found)


def launch_inet(network: MobileNetwork, found: Found) -> Launch:
    """Return the launch configuration of a mobile network."""
    if why := missing_inet(found):
        raise UserError(f"a mobile network on engine omnet cannot run here: {why}")
    if network.radio not in CONFIGS:
        raise UserError(f"engine omnet has no radio '{network.radio}'; it has {', '.join(CONFIGS)}")
    if network.radio == "wifi" and network.radio_bps not in (0, *(mbps * 1_000_000 for mbps in WIFI_MBPS)):
        rates = ", ".join(str(mbps) for mbps in WIFI_MBPS)
        raise UserError(f"radio wifi has no rate of {network.radio_bps} b/s; radio_bps can be {rates} Mb/s, or 0 for 6")
    assert found.inet_root is not None
    source: Path = found.inet_root / "src"
    return Launch(
        INET_ADAPTER / "omnetpp.ini",
        CONFIGS[network.radio],
        (*ned_folders(found), source),
        (str(source / "INET"), loadable(found, INET_LIBRARY)),
        {"**.station[*].tcp.delayedAcksEnabled": "true"} if network.wire_delayed_acks else {},
    )


def launch_own(network: InetNetwork, found: Found) -> Launch:
    """Return the launch configuration of a user's own INET network."""
    if why := missing_inet(found):
        raise UserError(f"an INET network cannot run here: {why}")
    assert found.inet_root is not None
    ini = Path(network.ini).resolve()
    folders, libraries = find_models(network.models)
    return Launch(
        ini,
        network.config,
        ned_path_of(ini, network.ned_path, found.inet_root, folders),
        (str(found.inet_root / "src" / "INET"), loadable(found, INET_LIBRARY), *network.libs, *libraries),
        {**SAME_INSTANT, **({"causeway-nodes": f'"{network.hosts}"'} if network.hosts else {})},
        network.run,
    )


def ned_path_of(
    ini: Path, folders: tuple[str, ...], inet_root: Path, of_models: tuple[str, ...] = ()
) -> tuple[Path, ...]:
    """Return the roots of NED packages for an ini file: INET's sources, `folders`, and those of projects of models.

    Without `folders`, the roots are the folder of the ini file, and INET's own examples, tutorials and showcases.
    """
    if folders:
        return (inet_root / "src", *(Path(folder).resolve() for folder in (*folders, *of_models)))
    roots = [path for name in INET_FOLDERS if (path := (inet_root / name).resolve()).is_dir()]
    roots += [Path(folder).resolve() for folder in of_models]
    inside = any(ini.is_relative_to(root) for root in roots)
    return (*roots, *(() if inside else (ini.parent,)))


def plain_command(found: Found, config: str, *arguments: str) -> list[str]:
    """Return the command line (to be run in omnet/inet) of a simulation without a controller."""
    assert found.inet_root is not None
    source = found.inet_root / "src"
    libraries = (source / "INET", loadable(found, LIBRARY), loadable(found, INET_LIBRARY))
    return [
        str(found.opp_run), "-u", "Cmdenv", "-n", ":".join(map(str, (*ned_folders(found), source))),
        "-f", "omnetpp.ini", "-c", config,
        *(part for library in libraries for part in ("-l", str(library))), *arguments,
    ]  # fmt: skip
