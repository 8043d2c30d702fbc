"""Write the walk of one number into CONTRIBUTING.md: `python -m tests.helpers.walk`.

A small campaign and its report run under a profiler. Whenever a function of a station is called (a module that handles
the number: the study, the engine, the checker, the store, the kind of plot, ...), all modules on the call stack are on
the number's way. They become the steps of the walk, in the order in which they were found, each with the first line of
its docstring.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tempfile
import textwrap
from pathlib import Path
from types import FrameType
from typing import Any

from causeway.bridge import engines
from causeway.toolchain.installation import SOURCES

PAGE = SOURCES / "CONTRIBUTING.md"
MARKED = re.compile(r"(<!-- walk: (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
CAMPAIGNS = {
    "inline": ["tests/helpers/walk_study.py", "--engine", "inline", "--sweep", "rates"],
    "ns3": ["mobile20", "--engine", "ns3", "--set", "duration_s=5", "--set", "hosts=4"],
}
"""Engine -> arguments of `causeway run`."""
STATIONS = {
    "tests/helpers/walk_study.py", "studies/mobile20/study.py", "network/networks.py", "bridge/engines/inline.py",
    "bridge/engines/ns3.py", "bridge/framing.py", "bridge/validation_spec.py", "bridge/validation_frames.py",
    "bridge/transport.py", "pycontrol/handlers.py", "pycontrol/protocols/mobile/station.py",
    "studies/mobile20/sampler.py", "pycontrol/checker.py", "pycontrol/digest.py", "analysis/store.py",
    "analysis/schema.py", "analysis/reduce/scalars.py", "analysis/reduce/comparison.py", "analysis/reduce/means.py",
    "analysis/kinds/line.py", "analysis/figures/sheet.py", "analysis/report/sections.py",
}  # fmt: skip
"""Modules that handle the number itself."""
WRAPPERS = {"causeway/deprecated.py", "causeway/signatures.py", "cli/once.py", "network/field_shapes.py"}
"""Modules whose functions wrap those of others; they are no steps."""
ASIDE = {"studies/second_run.py", "pycontrol/shared.py", "analysis/animation/__init__.py"}
"""Modules that the number does not pass through: the second run of a sampled run, which does not store it, the watch on
contents, and animations."""


class Walk:
    """A profiler that collects the modules on the call stack whenever a station is entered."""

    def __init__(self) -> None:
        self.steps: dict[str, None] = {}
        self._modules: dict[str, str] = {}

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:
        if event != "call" or self._module(frame) not in STATIONS:
            return
        stack = []
        at: FrameType | None = frame
        while at is not None:
            if at.f_code.co_name == "<module>" and self._module(at):
                return  # a module that is being imported
            stack.append(self._module(at))
            at = at.f_back
        self.steps.update(dict.fromkeys(module for module in reversed(stack) if module))

    def _module(self, frame: FrameType) -> str:
        """Return the path of a frame's module below the sources; '' for code of others."""
        file = frame.f_code.co_filename
        if file not in self._modules:
            path = Path(file).resolve()
            ours = path.suffix == ".py" and path.is_relative_to(SOURCES) and path != Path(__file__).resolve()
            module = str(path.relative_to(SOURCES)) if ours else ""
            self._modules[file] = "" if module.startswith(".") else module  # .venv
        return self._modules[file]


def steps(engine: str) -> list[str]:
    """Return the modules of the walk on an engine, found by a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "tests.helpers.walk", engine, folder]
        subprocess.run(command, cwd=SOURCES, capture_output=True, check=True)
        return Path(folder, "steps").read_text().splitlines()


def trace(engine: str, folder: Path) -> list[str]:
    """Run the campaign and its report once to compile what they need, and once more under the profiler."""
    walk = Walk()
    _campaign(engine, folder / "before")
    sys.setprofile(walk)
    _campaign(engine, folder / "traced")
    sys.setprofile(None)
    return [module for module in walk.steps if module not in WRAPPERS | ASIDE]


def _campaign(engine: str, folder: Path) -> None:
    from causeway.cli.main import app

    for command in (
        ["run", *CAMPAIGNS[engine], "--jobs", "1", "--json", "--out", str(folder)],
        ["report", str(folder)],
    ):
        try:
            app(command, standalone_mode=False)
        except SystemExit as end:
            assert not end.code, command


def text(modules: list[str]) -> str:
    """Return the steps as a numbered list."""
    return "".join(
        textwrap.fill(f"{number}. `{module}`: {summary(module)}", 120, subsequent_indent="   ") + "\n"
        for number, module in enumerate(modules, 1)
    )


def summary(module: str) -> str:
    """Return the first line of a module's docstring."""
    lines = (ast.get_docstring(ast.parse((SOURCES / module).read_text())) or "").splitlines()
    return lines[0] if lines else ""


def page(walks: dict[str, list[str]]) -> str:
    """Return CONTRIBUTING.md with these walks; the list of a simulator shows the modules that inline lacks."""

    def filled(match: re.Match[str]) -> str:
        engine = match[2]
        if engine not in walks:
            return match[0]
        own = [one for one in walks[engine] if engine == "inline" or one not in walks["inline"]]
        return match[1] + text(own) + match[3]

    return MARKED.sub(filled, PAGE.read_text())


if __name__ == "__main__":
    if len(sys.argv) > 1:
        Path(sys.argv[2], "steps").write_text("\n".join(trace(sys.argv[1], Path(sys.argv[2]))))
    else:
        PAGE.write_text(page({engine: steps(engine) for engine in CAMPAIGNS if not engines.get(engine).missing()}))
