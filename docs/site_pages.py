"""A hook of mkdocs, which adds the pages that are not in `docs/` to the site, and corrects the links to them.

The home page is README.md. A link from a page to a file of the tree (`../../examples/flood.py`) becomes a link to a
page that shows this file, so that the same Markdown works in a checkout and on the site.
"""

from __future__ import annotations

import os
import posixpath
import re
import subprocess
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[1]
DOCS, SOURCES, HOME = "docs/", "source/", "index.md"
NO_SIDEBAR = "---\nhide: [navigation]\n---\n"
LINK = re.compile(r"(\]\(|src=\")([^)\s\"]+?)(#[^)\s\"]*)?(\)|\")")
LANGUAGES = {".py": "python", ".cc": "cpp", ".h": "cpp", ".json": "json", ".ned": "c", ".ini": "ini", ".proto": "proto"}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the home page, and a page for each file of the tree that a page links to."""
    files.append(File.generated(config, HOME, content=NO_SIDEBAR + (ROOT / "README.md").read_text()))
    pages = [file for file in files if file.is_documentation_page()]
    while pages:
        page = pages.pop()
        for target in _targets(page.content_string, _path_in_tree(page.src_uri)):
            uri = _page_of(target)
            if target.startswith(DOCS) or files.get_file_from_path(uri) is not None:
                continue
            added = File.generated(config, uri, content=_content(target))
            files.append(added)
            pages.append(added)
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Point the links of a page to their targets on the site."""
    origin, folder = _path_in_tree(page.file.src_uri), posixpath.dirname(page.file.src_uri)

    def rewrite(link: re.Match[str]) -> str:
        opening, target, anchor, closing = link.groups()
        path = _resolve(target, origin)
        if path is None:
            return link[0]
        return opening + posixpath.relpath(_page_of(path), folder or ".") + (anchor or "") + closing

    return LINK.sub(rewrite, markdown)


def _path_in_tree(uri: str) -> str:
    """Return the path, below the root of the tree, of the file that a page of the site shows."""
    if uri == HOME:
        return "README.md"
    return uri.removeprefix(SOURCES).removesuffix(".page.md") if uri.startswith(SOURCES) else DOCS + uri


def _page_of(path: str) -> str:
    """Return the address of the page that shows a file of the tree."""
    if path == "README.md":
        return HOME
    if path.startswith(DOCS):
        return path.removeprefix(DOCS)
    return SOURCES + path if path.endswith(".md") else f"{SOURCES}{path}.page.md"


def _resolve(target: str, origin: str) -> str | None:
    """Return the path in the tree to which a link in the file `origin` leads, or None for another kind of link."""
    if ":" in target or target.startswith(("#", "/")):
        return None
    path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), target))
    return path if not path.startswith("..") and (ROOT / path).exists() else None


def _targets(markdown: str, origin: str) -> set[str]:
    """Return the files of the tree to which a text links."""
    return {path for link in LINK.finditer(markdown) if (path := _resolve(link[2], origin)) is not None}


def _tracked(folder: Path) -> set[str]:
    """Return the names in a folder that belong to the project; all names if it is no git checkout."""
    listed = subprocess.run(["git", "ls-files"], cwd=folder, capture_output=True, text=True, check=False)
    names = {line.partition("/")[0] for line in listed.stdout.splitlines()}
    return names or set(os.listdir(folder))


def _content(path: str) -> str:
    """Return the text of the page that shows a file or a folder."""
    place = ROOT / path
    if place.is_dir():
        names = sorted(name for name in _tracked(place) if not name.startswith(("_", ".")))
        base = posixpath.basename(path)
        return f"# {path}\n\n" + "\n".join(f"- [{name}]({base}/{name})" for name in names) + "\n"
    text = place.read_text(errors="replace")
    if place.suffix == ".md":
        return text
    fence = "`" * 4
    return f"# {path}\n\n{fence}{LANGUAGES.get(place.suffix, 'text')}\n{text}\n{fence}\n"
