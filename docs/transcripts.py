"""Runs the programs and commands that pages show, and compares what they print with what the page says.

    python docs/transcripts.py            # exits with status 1, and prints the difference, where a page is wrong
    python docs/transcripts.py --update   # writes the output into the pages

The blocks of a page share one empty folder and run in the order of the page:

- a block with a title (```` ```python title="flood.py" ````) is written into a file of that name;
- a block ```` ```console ```` holds commands, after `$ `, and their output; `...` stands for any text;
- a block ```` ```python ```` without a title is a program, and a block ```` ```text ```` after it is its output.

A block after the comment `<!-- needs: omnet -->` is left out where that simulator is missing.
"""

from __future__ import annotations

import argparse
import difflib
import doctest
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PAGES = ("tutorial", "how-to")
BLOCK = re.compile(
    r"(?:<!-- needs: (?P<needs>\w+) -->\n)?^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
COMMAND = re.compile(r"^\$ (.*(?:\\\n.*)*)\n", re.MULTILINE)
COMMAND_S = 600
FIRST_TIME = "causeway: compiling"
"""The beginning of a line that only the first run on a machine prints."""


@dataclass
class Page:
    """A page that is being run: its text, with the output corrected so far, and its folder."""

    path: Path
    folder: Path
    has: Callable[[str], bool]
    """Returns True if a simulator is installed."""

    def run(self) -> str:
        """Run all blocks in order and return the text of the page with their real output."""
        text, done, program = self.path.read_text(), 0, ""
        out: list[str] = []
        for block in BLOCK.finditer(text):
            out.append(text[done : block.start("text")])
            shown = block["text"]
            if block["needs"] and not self.has(block["needs"]):
                pass
            elif block["title"]:
                (self.folder / block["title"]).write_text(shown)
            elif block["language"] == "console":
                shown = "".join(self._commands(shown))
            elif block["language"] == "python":
                program = shown
            elif block["language"] == "text" and program:
                (self.folder / "block.py").write_text(program)
                shown, program = corrected(shown, self._output(f"{sys.executable} block.py")), ""
            out.append(shown)
            done = block.end("text")
        return "".join(out) + text[done:]

    def _commands(self, text: str) -> Iterator[str]:
        parts = COMMAND.split(text)
        yield parts[0]
        for command, shown in zip(parts[1::2], parts[2::2], strict=True):
            yield f"$ {command}\n"
            yield corrected(shown, self._output(command))

    def _output(self, command: str) -> str:
        env = os.environ | {"COLUMNS": "100", "NO_COLOR": "1", "PYTHONHASHSEED": "0", "TERM": "dumb"}
        env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
        ran = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=env, text=True, timeout=COMMAND_S, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        lines = ran.stdout.replace(str(self.folder), ".").splitlines()
        return "".join(f"{line.rstrip()}\n" for line in lines if not line.startswith(FIRST_TIME))


def corrected(shown: str, real: str) -> str:
    """Return `shown` if it matches the real output, in which `...` stands for any text; otherwise the real output."""
    return shown if doctest.OutputChecker().check_output(shown, real, doctest.ELLIPSIS) else real


def has_engine(name: str) -> bool:
    """Return True if the simulator of an engine is installed."""
    from causeway.bridge import engines

    return not engines.get(name).missing()


def difference(page: Path, has: Callable[[str], bool] = has_engine) -> tuple[str, str]:
    """Run a page and return its difference from what really happens ("" if none), and its corrected text."""
    folder = Path(tempfile.mkdtemp(prefix="causeway-page-"))
    try:
        text = Page(page, folder, has).run()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    before = page.read_text().splitlines(keepends=True)
    return "".join(difflib.unified_diff(before, text.splitlines(keepends=True), str(page), "what it prints")), text


def main() -> None:
    """Run all pages, or those given."""
    parser = argparse.ArgumentParser(description="Run the programs that pages show, and compare what they print.")
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--update", action="store_true", help="write the real output into the pages")
    given = parser.parse_args()
    wrong = 0
    for page in given.pages or sorted(path for name in PAGES for path in (DOCS / name).glob("*.md")):
        found, text = difference(page)
        if found and given.update:
            page.write_text(text)
        print(f"{page}: {'updated' if found and given.update else 'wrong' if found else 'as it says'}")
        if found and not given.update:
            print(found)
        wrong += bool(found) and not given.update
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
