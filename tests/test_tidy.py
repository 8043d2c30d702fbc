"""The rules of CONTRIBUTING: sizes of functions, lengths of lines, unused names, and paths in the docs.

Where the tree does not comply yet, the offenders are listed below. The lists only shrink: a new offender fails a test,
and so does a listed one that complies by now.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import textwrap
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

TOP = Path(__file__).resolve().parents[1]
LONGEST_FUNCTION = 70
LONGEST_LINE = 120
MOST_ARGUMENTS = 8
"""The largest number of parameters of a plain function or method, without self and cls."""

LONG_FUNCTIONS: set[str] = set()
LONG_LINES: dict[str, int] = {}
"""path -> how many lines. None may grow."""

MANY_ARGUMENTS = {
    "cli/main.py:check": "one for each option of the command",
    "cli/main.py:run": "one for each option of the command",
    "aio/networked.py:NetworkedLoop.create_connection": "asyncio's signature",
    "aio/networked.py:NetworkedLoop.create_datagram_endpoint": "asyncio's signature",
    "aio/networked.py:NetworkedLoop.create_server": "asyncio's signature",
    "pycontrol/protocols/dcs/vectorized.py:DynamicClockSet.__init__": "the settings of the paper's Section V",
}
"""path:function -> why it may have more."""

DEAD_NAMES: dict[str, str] = {
    "docs/site_pages.py:on_files": "mkdocs calls it",
    "docs/site_pages.py:on_page_markdown": "mkdocs calls it",
    "omnet/opp_env/causeway.py:get_project_descriptions": "opp_env calls it",
}
"""path:name -> why it stays."""

UNUSED_DEPENDENCIES: set[str] = set()

STALE_PATHS: set[str] = set()
"""file: what it names."""

IMPORTED_AS = {"pyzmq": "zmq", "protobuf": "google"}
"""Packages whose import name differs from their name."""


# ---- the tree -------------------------------------------------------------------------------------------------------


@cache
def files(*suffixes: str) -> tuple[Path, ...]:
    """Return the files that git tracks, or would, with these endings, without following links into the package."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard"]
    names = subprocess.run(command, cwd=TOP, capture_output=True, text=True, check=True).stdout.splitlines()
    paths = [TOP / name for name in names if name.endswith(suffixes)]
    return tuple(path for path in paths if path.is_file() and not path.is_symlink())


def name_of(path: Path) -> str:
    return path.relative_to(TOP).as_posix()


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def functions(path: Path) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
    """Yield every function of a file with its dotted name."""

    def walk(node: ast.AST, prefix: str) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                yield prefix + child.name, child
            named = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef)
            yield from walk(child, f"{prefix}{child.name}." if named else prefix)  # type: ignore[attr-defined]

    yield from walk(tree_of(path), f"{name_of(path)}:")


def wrong(known: Iterable[str], found: Iterable[str], what: str) -> str:
    """Return messages about new offenders, and about known offenders that comply by now."""
    known, found = set(known), set(found)
    if found - known:
        return f"{what}: {', '.join(sorted(found - known))}"
    return f"complies by now; take it off the list: {', '.join(sorted(known - found))}" if known - found else ""


# ---- sizes ----------------------------------------------------------------------------------------------------------


def cpp_functions(path: Path) -> Iterator[tuple[str, int]]:
    """Yield (path:line, lines) of functions that begin and end at the left margin."""
    began = 0
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if re.match(r"[A-Za-z].*\)[^;]*\{$", line) and not line.startswith(("namespace", "class", "struct")):
            began = number
        elif line == "}" and began:
            yield f"{name_of(path)}:{began}", number - began + 1
            began = 0


def test_a_function_fits_on_a_screen() -> None:
    long = [
        name
        for path in files(".py")
        for name, function in functions(path)
        if (function.end_lineno or 0) - function.lineno + 1 > LONGEST_FUNCTION
    ]
    long += [name for path in files(".cc", ".h") for name, lines in cpp_functions(path) if lines > LONGEST_FUNCTION]
    assert not wrong(LONG_FUNCTIONS, long, f"longer than {LONGEST_FUNCTION} lines")


def arguments_of(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    given = function.args
    names = [one.arg for one in (*given.posonlyargs, *given.args, *given.kwonlyargs)]
    return len([name for name in names if name not in ("self", "cls")])


def is_compiled(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(re.search(r"jit|compiled", ast.unparse(decorator)) for decorator in function.decorator_list)


def test_a_function_takes_few_arguments() -> None:
    """Compiled ones may take more: an array out of a tuple costs two atomic operations at each use."""
    found = [
        name
        for path in files(".py")
        for name, function in functions(path)
        if arguments_of(function) > MOST_ARGUMENTS and not is_compiled(function)
    ]
    assert not wrong(MANY_ARGUMENTS, found, f"more than {MOST_ARGUMENTS} arguments")


# ---- lines ----------------------------------------------------------------------------------------------------------


def is_prose(line: str) -> bool:
    """Return whether a line of markdown can be wrapped; tables and lines of one long link cannot."""
    return not line.startswith("|") and not re.match(r"\s*(?:[-*] )?!?\[[^]]*\]\([^)]*\)[.,]?$", line)


def test_no_line_is_longer_than_a_screen_is_wide() -> None:
    long = Counter[str]()
    for path in files(".md", ".cc", ".h", ".ned", ".ini", ".proto", ".py"):
        for line in path.read_text().splitlines():
            shown = re.sub(r"\s*# (type: ignore|noqa|fmt:).*", "", line) if path.suffix == ".py" else line
            if len(shown) > LONGEST_LINE and (path.suffix != ".md" or is_prose(line)):
                long[name_of(path)] += 1
    assert not wrong(LONG_LINES, long, f"lines of more than {LONGEST_LINE} characters")
    assert long == LONG_LINES, "write down the smaller number; a larger one is not allowed"


# ---- names ----------------------------------------------------------------------------------------------------------

CAMEL_VARIABLE = re.compile(r"[\w>:][ *&]+(?!k[A-Z])([a-z]+[A-Z]\w*)\s*(?:=[^=]|;|,|\{|\))")
"""A declared variable, field or argument in camelCase; constants are kLikeThis, methods come before a parenthesis."""


def test_variables_of_the_cpp_code_are_in_snake_case() -> None:
    found = [
        f"{name_of(path)}:{number}: {match[1]}"
        for path in files(".cc", ".h")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        for match in CAMEL_VARIABLE.finditer(re.sub(r'"[^"]*"|//.*', "", line))
        if not re.search(r"\b(?:return|class|struct)\b", line[: match.end()])
    ]
    assert not found, "; ".join(found)


def words_of(path: Path) -> Counter[str]:
    """Return every identifier in the code of a file, including those in strings (such as entry points)."""
    return Counter(re.findall(r"[A-Za-z_]\w*", path.read_text()))


def is_registered(node: ast.FunctionDef | ast.ClassDef) -> bool:
    """Return whether a decorator registers it: a command, a fixture, an overload in numba, a kind of plot."""
    return any(
        re.search(r"\b(command|fixture|overload)\(|^plot_kind\b", ast.unparse(one)) for one in node.decorator_list
    )


def test_every_public_name_is_used() -> None:
    product = [path for path in files(".py", ".toml") if not name_of(path).startswith("tests/")]
    used = sum((words_of(path) for path in product), Counter[str]())
    dead = [
        f"{name_of(path)}:{node.name}"
        for path in product
        if path.suffix == ".py" and not name_of(path).startswith("examples/")
        for node in tree_of(path).body
        if isinstance(node, ast.FunctionDef | ast.ClassDef)
        and not node.name.startswith("_")
        and not is_registered(node)
        and used[node.name] < 2
    ]
    assert not wrong(DEAD_NAMES, dead, "public, and used nowhere outside the tests")


# ---- dependencies ---------------------------------------------------------------------------------------------------


def imported_names() -> set[str]:
    """Return the top-level names that the product imports."""
    product = [
        path for path in files(".py") if not name_of(path).startswith(("tests/", "bench/", "examples/", "docs/"))
    ]
    found: set[str] = set()
    for path in product:
        for node in ast.walk(tree_of(path)):
            if isinstance(node, ast.Import):
                found |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                found.add(node.module.partition(".")[0])
    return found


@pytest.mark.slow
def test_every_dependency_is_imported() -> None:
    project = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
    declared = {re.split(r"[<>=!~ \[;]", one)[0] for one in project["dependencies"]}
    unused = {name for name in declared if IMPORTED_AS.get(name, name) not in imported_names()}
    assert not wrong(UNUSED_DEPENDENCIES, unused, "declared in pyproject.toml and imported nowhere")


def test_every_import_is_declared() -> None:
    """A library that is only installed as a dependency of another one may disappear."""
    project = tomllib.loads((TOP / "pyproject.toml").read_text())["project"]
    declared = sum(project["optional-dependencies"].values(), project["dependencies"])
    names = {re.split(r"[<>=!~ \[;]", one)[0] for one in declared}
    known = {IMPORTED_AS.get(name, name) for name in names} | sys.stdlib_module_names | {"causeway"}
    assert not imported_names() - known


# ---- what the docs say ----------------------------------------------------------------------------------------------


def pages() -> list[Path]:
    return list(files(".md"))


def own_folders() -> set[str]:
    return {name_of(path).partition("/")[0] for path in files("") if "/" in name_of(path)}


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_paths_in_the_docs_are_there(page: Path) -> None:
    """`bridge/session.py`, `bridge/session.py:open_session`, and folders. What is made by a run is not ours."""
    for quoted in re.findall(r"`([\w.+-]+(?:/[\w.+-]+)+/?(?::\w+)?)`", page.read_text()):
        path, _, function = quoted.partition(":")
        if path.partition("/")[0] not in own_folders():
            continue
        assert (TOP / path).exists(), f"{name_of(page)} names {path}, which is not there"
        if function:
            found = re.search(rf"\b{function}\b", (TOP / path).read_text())
            assert found, f"{name_of(page)} names {function} in {path}, which is not there"


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_links_in_the_docs_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text()):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        to = (page.parent / path).resolve() if path else page
        assert to.exists(), f"{name_of(page)} links {target}, which is not there"
        if anchor:
            assert anchor in anchors(to), f"{name_of(page)} links {target}, but there is no such heading"


def anchors(page: Path) -> set[str]:
    """Return the headings of a page in the form of links."""
    headings = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("page", pages(), ids=name_of)
def test_modules_that_the_docs_run_are_there(page: Path) -> None:
    for module in re.findall(r"python -m ((?:causeway|bench)(?:\.\w+)*)", page.read_text()):
        path = TOP / module.removeprefix("causeway.").replace(".", "/")
        assert path.with_suffix(".py").exists() or (path / "__init__.py").exists(), f"{name_of(page)} runs {module}"


def test_generated_tables_are_between_their_markers() -> None:
    for page in pages():
        if not name_of(page).startswith("docs/papers/"):
            continue
        marks = re.findall(r"<!-- (table|end)\b.*?-->", page.read_text())
        assert marks == ["table", "end"] * (len(marks) // 2), f"{name_of(page)}: a table's markers do not match"


def test_python_in_the_guide_is_python() -> None:
    blocks = [block for page in pages() for block in re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)]
    assert blocks
    wrong = []
    for block in blocks:
        try:
            ast.parse(textwrap.dedent(block))
        except SyntaxError as error:
            wrong.append(f"{error}: {block}")
    assert wrong == []


def test_the_code_that_chapter_2_shows_is_that_of_its_example() -> None:
    example = (TOP / "examples/flood.py").read_text()
    chapter = (TOP / "docs/guide/02-protocols.md").read_text()
    shown = re.findall(r"```python\n(.*?)```", chapter, re.DOTALL)
    assert sum(block.strip("\n") in example for block in shown) >= 3


def test_paths_in_the_code_are_there() -> None:
    """Comments and docstrings that send the reader to another file."""
    pattern = rf"\b(?:{'|'.join(sorted(own_folders()))})/[\w/.-]+\.[a-z]+\d?\b"
    missing = {
        f"{name_of(path)}: {named}"
        for path in files(".py", ".cc", ".h", ".ned", ".ini", ".proto")
        for named in re.findall(pattern, re.sub(r"#include.*", "", path.read_text()))
        if path != Path(__file__)
        and not (TOP / named).exists()
        and not (path.parent / named).exists()
        and not named.endswith(".so")
    }
    assert not wrong(STALE_PATHS, missing, "names a file that is not there")


MAY_IMPORT = {
    "proto": set(),
    "toolchain": set(),
    "network": {"proto", "toolchain"},
    "bridge": {"network", "proto", "toolchain"},
    "pycontrol": {"bridge", "network", "proto", "toolchain"},
    "explore": {"bridge", "network", "pycontrol"},
    "analysis": {"toolchain"},
    "studies": {"analysis", "bridge", "explore", "network", "pycontrol", "toolchain"},
    "aio": {"bridge", "network", "proto", "pycontrol", "studies"},
    "learn": {"bridge", "network", "pycontrol", "studies"},
    "cli": {"aio", "analysis", "bridge", "explore", "network", "proto", "pycontrol", "studies", "toolchain"},
}
"""The house of docs/design.md: who may know of whom. `analysis` knows tables, and neither protocols nor studies."""


def test_modules_import_only_allowed_packages() -> None:
    wrong = [
        f"{name_of(path)} imports {other}"
        for path in files(".py")
        if (room := name_of(path).split("/")[0]) in MAY_IMPORT
        for other in re.findall(r"^\s*(?:from|import) causeway\.(\w+)", path.read_text(), re.MULTILINE)
        if other in MAY_IMPORT and other != room and other not in MAY_IMPORT[room]
    ]
    assert not wrong, ", ".join(sorted(set(wrong)))
