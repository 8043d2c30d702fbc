"""Run the programs and commands that pages show, and compare their output with the pages.

    python docs/transcripts.py            # exits with status 1, and prints the difference, where a page is wrong
    python docs/transcripts.py --update   # writes the output into the pages

The blocks of a page share one empty folder and run in the order of the page:

- a block with a title (```` ```python title="flood.py" ````) is written into a file of that name;
- a block ```` ```console ```` holds commands, after `$ `, and their output; `...` stands for any text;
- a block ```` ```python ```` without a title is a program, and a block ```` ```text ```` after it is its output.

A block after the comment `<!-- needs: omnet -->` is skipped with a message if that simulator, package or program, or
one of several, is missing. A block after `<!-- not run: REASON -->` is never run. Any other block is refused, so no
page shows a block that was not run. If a program of the page writes a picture with the name of one in `docs/images`,
`--update` copies it there.
"""

from __future__ import annotations

import argparse
import difflib
import doctest
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

DOCS = Path(__file__).resolve().parent
PAGES = ("tutorial", "how-to")
BLOCK = re.compile(
    r"(?:<!-- needs: (?P<needs>[\w ]+) -->\n|(?P<not_run><!-- not run: [^\n]+ -->)\n)?"
    r"^```(?P<language>\w+)(?: title=\"(?P<title>[^\"]+)\")?\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
FENCE = re.compile(r"^ *```", re.MULTILINE)
COMMAND = re.compile(r"^\$ (.*(?:\\\n.*)*)\n", re.MULTILINE)
PICTURE = re.compile(r"!\[[^]]*\]\(([^):]+)\)")
COMMAND_S = 1800
FIRST_TIME = ("causeway: compiling", "compiling ")
"""The beginnings of lines that only the first run on a machine prints."""


@dataclass
class Page:
    """A page that is being run: its text, with the output corrected so far, and its folder."""

    path: Path
    folder: Path
    has: Callable[[str], bool]
    """Returns True if a simulator, a Python package or a program is installed."""
    left_out: list[str] = field(default_factory=list)
    """The requirements of the blocks that were skipped."""

    def run(self) -> str:
        """Run all blocks in order and return the text of the page with their real output."""
        text, done, program = self.path.read_text(), 0, ""
        out: list[str] = []
        blocks = list(BLOCK.finditer(text))
        if 2 * len(blocks) != (fences := len(FENCE.findall(text))):
            raise SystemExit(f"{self.path}: {len(blocks)} blocks and {fences / 2:g} pairs of fences")
        for block, after in zip(blocks, [*blocks, None][1:], strict=True):
            out.append(text[done : block.start("text")])
            shown, done = block["text"], block.end("text")
            if block["not_run"]:
                pass
            elif missing := [name for name in (block["needs"] or "").split() if not self.has(name)]:
                self.left_out += missing
            elif block["title"]:
                self._write(block["title"], shown)
            elif block["language"] == "console":
                shown = "".join(self._commands(shown))
            elif block["language"] == "python" and after is not None and _is_output(after):
                program = shown
            elif block["language"] == "python":
                real = self._program(shown)
                shown += f"```\n\n```text\n{real}" if real else ""
            elif block["language"] == "text" and program:
                shown, program = corrected(shown, self._program(program)), ""
            else:
                raise SystemExit(f"{self.path}: this block is not run:\n{block[0]}")
            out.append(shown)
        return "".join(out) + text[done:]

    def copy_pictures(self) -> None:
        """Copy the pictures that the programs wrote to the folder from which the page shows them."""
        for name in PICTURE.findall(self.path.read_text()):
            if (self.folder / Path(name).name).is_file():
                shutil.copy(self.folder / Path(name).name, self.path.parent / name)

    def _write(self, title: str, text: str) -> None:
        (self.folder / title).parent.mkdir(parents=True, exist_ok=True)
        (self.folder / title).write_text(text)

    def _program(self, text: str) -> str:
        self._write("block.py", text)
        return self._output(f"{sys.executable} block.py")

    def _commands(self, text: str) -> Iterator[str]:
        parts = COMMAND.split(text)
        yield parts[0]
        for command, shown in zip(parts[1::2], parts[2::2], strict=True):
            yield f"$ {command}\n"
            yield corrected(shown, self._output(command))

    def _output(self, command: str) -> str:
        env = os.environ | {"COLUMNS": "100", "NO_COLOR": "1", "PYTHONHASHSEED": "0", "TERM": "dumb"}
        env["PATH"] = f"{Path(sys.executable).parent}:{env['PATH']}"
        env |= simulator_folders()
        ran = subprocess.run(
            ["bash", "-c", command], cwd=self.folder, env=env, text=True, timeout=COMMAND_S, check=False,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )  # fmt: skip
        lines = ran.stdout.replace(str(self.folder), ".").splitlines()
        return "".join(f"{line.rstrip()}\n" for line in lines if not line.startswith(FIRST_TIME))


def corrected(shown: str, real: str) -> str:
    """Return `shown` if it matches the real output, in which `...` stands for any text; otherwise the real output."""
    return shown if doctest.OutputChecker().check_output(shown, real, doctest.ELLIPSIS) else real


def _is_output(block: re.Match[str]) -> bool:
    return block["language"] == "text" and not block["title"]


def is_here(name: str) -> bool:
    """Return True if a simulator (the name of an engine), a Python package or a program is installed."""
    from causeway.bridge import engines

    if name in engines.ENGINES:
        return not engines.get(name).missing()
    return importlib.util.find_spec(name) is not None or shutil.which(name) is not None


@cache
def simulator_folders() -> dict[str, str]:
    """Return OMNETPP_ROOT and INET_ROOT of the pair in use, for pages that compile something for it."""
    from causeway.toolchain.omnet_find import find_omnetpp

    found = find_omnetpp()
    if found is None or not found.has_inet:
        return {}
    return {"OMNETPP_ROOT": str(found.root), "INET_ROOT": str(found.inet_root)}


def difference(path: Path, has: Callable[[str], bool] = is_here, update: bool = False) -> tuple[str, str, list[str]]:
    """Run a page; return its difference from what really happens ("" if none), its corrected text, what was missing.

    With `update`, the pictures that its programs write replace those that it shows.
    """
    folder = Path(tempfile.mkdtemp(prefix="causeway-page-"))
    try:
        page = Page(path, folder, has)
        text = page.run()
        if update:
            page.copy_pictures()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    before = path.read_text().splitlines(keepends=True)
    found = difflib.unified_diff(before, text.splitlines(keepends=True), str(path), "what it prints")
    return "".join(found), text, page.left_out


def main() -> None:
    """Run all pages, or those given."""
    parser = argparse.ArgumentParser(description="Run the programs that pages show, and compare what they print.")
    parser.add_argument("pages", nargs="*", type=Path)
    parser.add_argument("--update", action="store_true", help="write the real output into the pages")
    given = parser.parse_args()
    wrong = 0
    for page in given.pages or sorted(path for name in PAGES for path in (DOCS / name).glob("*.md")):
        found, text, left_out = difference(page, update=given.update)
        if found and given.update:
            page.write_text(text)
        without = f" (not run here: what needs {', '.join(sorted(set(left_out)))})" if left_out else ""
        verdict = "as it says" if not found else "updated" if given.update else "wrong"
        print(f"{page}: {verdict}{without}", flush=True)
        if found and not given.update:
            print(found)
        wrong += bool(found) and not given.update
    sys.exit(wrong > 0)


if __name__ == "__main__":
    main()
