"""INET's own examples and tutorials as users' projects: an ini file of at most ten lines adds a protocol to each.

One more line lets it run as long as the study: from INET 4.6 on, most examples end by themselves after 10 to 50 s.

`{inet}` is where INET is, `{main}` the name of its ini files. Nothing of INET is edited: its ini file is included, and
its NED files are read where they are.
"""

from __future__ import annotations

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from causeway.analysis.convert import pandas_tables
from causeway.bridge.engines.omnet_inet import INET_FOLDERS
from causeway.toolchain.omnet_find import find_omnetpp

MAIN = "omnetpp.ini"
LIMIT = "sim-time-limit = 1000s"


@dataclass(frozen=True)
class Project:
    """One network, with the lines that put a protocol on its hosts."""

    nodes: int
    ini: str
    kind: str

    def write(self, folder: Path) -> Path:
        """Write the ini file, with a configuration called Python."""
        lines = self.ini.strip("\n")
        assert len(lines.splitlines()) <= 10
        path = folder / "omnetpp.ini"
        path.write_text(f"{lines.format(inet=inet_root(), main=MAIN)}\n{LIMIT}\n")
        return path


PROJECTS = {
    "aodv": Project(
        20,
        """
include {inet}/examples/aodv/{main}
[Config Python]
extends = Static
causeway-nodes = "**.host[*]"
""",
        "a multi-hop MANET with AODV, pinged",
    ),
    "dsdv": Project(
        20,
        """
include {inet}/examples/manetrouting/dsdv/{main}
[Config Python]
extends = IPv4
causeway-nodes = "**.host[*]"
""",
        "a multi-hop MANET with DSDV on 802.11, pinged",
    ),
    "gpsr": Project(
        20,
        """
include {inet}/examples/manetrouting/gpsr/{main}
[Config Python]
extends = IPv4
**.mobility.constraintAreaMaxX = 500m
**.mobility.constraintAreaMaxY = 500m
causeway-nodes = "**.host[*]"
""",
        "a multi-hop MANET with GPSR on 802.11, pinged",
    ),
    "access_point": Project(
        10,
        """
include {inet}/examples/wireless/lan80211/{main}
[Config Python]
extends = Ping2
*.numHosts = 10
*.host[*].app[0].sendInterval = 100ms
**.constraintAreaMinX = 150m
**.constraintAreaMaxX = 280m
**.constraintAreaMinY = 110m
**.constraintAreaMaxY = 240m
causeway-nodes = "**.host[*]"
""",
        "hosts that drive about in the cell of an access point and ping one of them ten times a second each",
    ),
    "wired_lan": Project(
        9,
        """
include {inet}/tutorials/configurator/{main}
[Config Python]
extends = Step1
*.host0.numApps = 1
*.host0.app[0].typename = "PingApp"
*.host0.app[0].destAddr = "host8"
causeway-nodes = "**.host*"
""",
        "three switched Ethernets behind three routers",
    ),
    "telnet": Project(
        9,
        """
include {inet}/examples/inet/nclients/{main}
[Config Python]
extends = inet__inet
*.n = 9
causeway-nodes = "**.cli[*]"
""",
        "Telnet clients on serial lines, three routers away from their server",
    ),
}


def inet_root() -> Path:
    """Return the folder of INET; skip the test if it is not installed."""
    found = find_omnetpp()
    assert found is not None and found.inet_root is not None
    return found.inet_root


def plain_scalars(ini: Path, seed: int, limit_s: float, folder: Path, *arguments: str) -> pd.DataFrame:
    """Return the results of the network's own modules without a controller: module, name, value."""
    found = find_omnetpp()
    assert found is not None
    text = "".join(line for line in ini.read_text().splitlines(True) if not line.startswith("causeway-nodes"))
    plain = folder / "plain.ini"
    plain.write_text(text)
    inet = inet_root()
    path = ":".join(str(inet / name) for name in INET_FOLDERS)
    command = [
        str(found.opp_run), "-u", "Cmdenv", "-n", path, "-l", str(inet / "src" / "INET"), "-f", str(plain),
        "-c", "Python", "-r", "0", f"--seed-set={seed}", f"--sim-time-limit={limit_s}s", "--cmdenv-express-mode=true",
        "--**.vector-recording=false", f"--result-dir={folder / 'beside'}",
        f"--output-scalar-file={folder / 'plain.sca'}", *arguments,
    ]  # fmt: skip
    ran = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-2000:]
    return own_scalars(folder / "plain.sca")


def own_scalars(file: Path) -> pd.DataFrame:
    """Return the results of the network's own modules."""
    table = pandas_tables([file])["scalars"]
    return table[~table.module.str.endswith(".causeway")].set_index(["module", "name"])[["value"]].sort_index()
