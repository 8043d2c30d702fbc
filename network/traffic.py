"""Road traffic of SUMO as the movement of hosts: each vehicle is a node while it is on the road.

    MobileNetwork(station_xy_mm=((0, 0),), hosts=60, movement=Sumo("city.sumocfg", step=ms(100)), radio="wifi")

    InetNetwork(ini="omnetpp.ini", hosts="**.car[*]", movement=Sumo("city.sumocfg"))

`pycontrol/vehicles.py` runs SUMO beside the simulation.
"""

from __future__ import annotations

import hashlib
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

from causeway.errors import UserError
from causeway.network.field_shapes import checked_arguments

LEAST_STEP_PS = 10**9
"""A millisecond, the resolution of SUMO's own clock."""
CLIENTS = ("libsumo", "traci")


@checked_arguments
@dataclass(frozen=True)
class Sumo:
    """A simulation of SUMO that runs beside the network's, step by step."""

    config: str
    """The path of the .sumocfg file. A study lists this file, and those that it refers to, in `files` as well."""
    step: int = 100_000_000_000
    """The time between two positions, in ps (`ms(100)`): whole milliseconds. Vehicles move straight between them."""
    client: str = ""
    """`libsumo` (in this process) or `traci` (a process `sumo` of its own). The default is traci if `sumo` is on PATH
    or in SUMO_HOME, and libsumo otherwise."""
    options: tuple[str, ...] = ()
    """Further options of SUMO, such as ("--scale", "1.5")."""
    digest: str = field(init=False, default="")
    """A digest of the files: a run with changed files has another id."""

    def __post_init__(self) -> None:
        if not isinstance(self.config, str | Path):
            raise UserError(f"Sumo: config is {self.config!r}; allowed: the path of a .sumocfg file")
        step = self.step
        if isinstance(step, bool) or not isinstance(step, int) or step < LEAST_STEP_PS or step % LEAST_STEP_PS:
            raise UserError(f"Sumo: step is {step!r} ps; allowed: whole milliseconds, as in step=ms(100)")
        if self.client not in ("", *CLIENTS):
            raise UserError(f"Sumo: client is {self.client!r}; allowed: libsumo, traci, or nothing")
        if not isinstance(self.options, tuple | list):
            raise UserError(f"Sumo: options is {self.options!r}; allowed: a tuple of texts, as in ('--scale', '2')")
        object.__setattr__(self, "config", str(self.config))
        object.__setattr__(self, "options", tuple(self.options))
        object.__setattr__(self, "digest", self._contents())

    def _contents(self) -> str:
        """Return a digest of the configuration and the files that it names.

        Raises:
            UserError: A file does not exist, or the configuration is not XML.
        """
        config = Path(self.config)
        try:
            found = hashlib.blake2b(config.read_bytes(), digest_size=8)
            root = ET.fromstring(config.read_text())
        except OSError as error:
            raise UserError(f"SUMO's {config} cannot be read: {error.strerror}") from None
        except ET.ParseError as error:
            raise UserError(f"SUMO's {config} is not XML: {error}") from None
        for element in root.iter():
            if not element.tag.endswith(("-file", "-files")):
                continue
            for name in element.get("value", "").split(","):
                try:
                    found.update((config.parent / name.strip()).read_bytes())
                except OSError as error:
                    raise UserError(f"SUMO's {config} names {name.strip()}: {error.strerror}") from None
        return found.hexdigest()
