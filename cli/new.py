"""`causeway new` writes a first protocol. `causeway` without arguments shows the first steps."""

from __future__ import annotations

import re
from pathlib import Path

from rich.console import Console

from causeway.cli.bundled import EXAMPLES
from causeway.errors import UserError

FIRST_STEPS = """\
causeway new my_protocol.py     write a protocol, a network and a run; `python my_protocol.py` makes the run
causeway examples               list the examples, and copy some
causeway studies                list the studies of published protocols
causeway run hash               run a study; `causeway report results` draws what came out
causeway doctor                 see which simulators are installed

All commands: causeway --help"""


def show_first_steps(console: Console) -> None:
    """Print five commands to try."""
    console.print(FIRST_STEPS, highlight=False, markup=False, soft_wrap=True)


def write_protocol(file: Path, console: Console) -> None:
    """Write the first example to a file, and name its class after the file.

    Raises:
        UserError: The file exists already, or its name cannot be that of a Python module.
    """
    name = "".join(part[:1].upper() + part[1:] for part in re.split(r"[_-]+", file.stem))
    if file.suffix != ".py" or not name.isidentifier():
        raise UserError(f"{file} is not a name for a protocol; use letters, digits and _, as in my_protocol.py")
    text = (EXAMPLES / "first.py").read_text(encoding="utf-8").replace("Flooder", name)
    _, _, program = text.partition('"""\n\n')
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with file.open("x", encoding="utf-8") as target:
            target.write(f'"""{name}: a node, a network and a run."""\n\n{program}')
    except FileExistsError:
        raise UserError(f"{file} exists already; choose another name") from None
    console.print(f"{file}; `python {file}` runs it", highlight=False, markup=False, soft_wrap=True)
