"""INET's own mobility modules on a trace file, in a network of INET with a silent protocol."""

from __future__ import annotations

from pathlib import Path

from causeway.bridge.engine import RunSpec
from causeway.network.movement import Trace
from causeway.network.networks import InetNetwork
from causeway.network.workload import Workload
from causeway.pycontrol.loop import run_protocol
from causeway.pycontrol.node import PerNode
from causeway.toolchain.omnet_find import find_omnetpp
from tests.helpers.inet_probe import ENGINE
from tests.helpers.wireless_probe import MS, Log, Probe, S, logged

NED = """
import inet.networklayer.configurator.ipv4.Ipv4NetworkConfigurator;
import inet.node.inet.AdhocHost;
import inet.physicallayer.wireless.common.contract.packetlevel.IRadioMedium;
network Roads
{
    parameters:
        int hosts;
    submodules:
        radioMedium: <"UnitDiskRadioMedium"> like IRadioMedium;
        configurator: Ipv4NetworkConfigurator;
        host[hosts]: AdhocHost;
}
"""
INI = """
[General]
network = Roads
*.hosts = {hosts}
**.arp.typename = "GlobalArp"
**.wlan[*].typename = "AckingWirelessInterface"
**.wlan[*].bitrate = 1Mbps
**.wlan[*].radio.typename = "{radio}"
**.wlan[*].radio.transmitter.communicationRange = 120m
**.wlan[*].radio.transmitter.analogModel.communicationRange = 120m
**.mobility.typename = "{module}"
**.mobility.traceFile = "{file}"
**.mobility.nodeId = -1
**.mobility.constraintAreaMinX = -10km
**.mobility.constraintAreaMinY = -10km
**.mobility.constraintAreaMaxX = 10km
**.mobility.constraintAreaMaxY = 10km
**.causeway.positionEvery = 0.1s
"""


def places_on_inet(folder: Path, module: str, file: Path, hosts: int, seconds: float) -> Log:
    """Return the positions of hosts in INET's `module`, every 100 ms."""
    (folder / "Roads.ned").write_text(NED)
    found = find_omnetpp()
    assert found is not None and found.inet_version is not None
    radio = "UnitDiskRadio" if found.inet_version.startswith("4.5") else "GenericUnitDiskRadio"
    (folder / "omnetpp.ini").write_text(INI.format(hosts=hosts, module=module, file=file, radio=radio))
    log = Log()
    network = InetNetwork(hosts, ini=str(folder / "omnetpp.ini"), workload=Workload(hosts), hosts="**.host[*]")
    spec = RunSpec("test", {}, 1, network, MS, int(seconds * S))
    run_protocol(ENGINE, spec, PerNode(logged(Probe, log)), [])
    return log


def write_bonnmotion(traces: tuple[Trace, ...], path: Path) -> None:
    """Write the traces as a BonnMotion file."""
    lines = (" ".join(f"{t / S:.12f} {x / 1000:.3f} {y / 1000:.3f}" for t, x, y in one.tolist()) for one in traces)
    path.write_text("\n".join(lines) + "\n")
