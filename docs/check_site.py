"""Check the built site: every link has a target, and every public name is in the API pages.

    python docs/check_site.py build/site        # exits with status 1, and names what is wrong

mkdocs checks links in Markdown. This program checks the links of the built pages, also those in HTML and those that the
theme, the API reference and the pages of source files add. Links to other sites are counted, but not followed. A name
or member without a docstring is missing in the API pages, so it is reported here.
"""

from __future__ import annotations

import inspect
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

PUBLIC = Path(__file__).resolve().parent / "api.txt"
TARGETS = {"a": "href", "link": "href", "img": "src", "script": "src"}
FORGIVING = "404.html"
"""The page that a server shows instead of a missing one. Its links start at the site's root."""


class Links(HTMLParser):
    """The links of a page, and the ids of its elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.ids: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Record the target of a link, and the element's id."""
        values = dict(attrs)
        self.ids |= {value for name in ("id", "name") if (value := values.get(name))}
        if target := values.get(TARGETS.get(tag, "")):
            self.targets.add(target)


def broken(site: Path) -> tuple[list[str], int, int]:
    """Return the links without a target (page: link), the number of links followed, and of links to other sites."""
    pages = {page.resolve(): Links(page.read_text()) for page in site.rglob("*.html") if page.name != FORGIVING}
    wrong, followed, outside = [], 0, 0
    for page, links in sorted(pages.items()):
        for target in sorted(links.targets):
            parts = urlsplit(target)
            if parts.scheme or parts.netloc:
                outside += 1
                continue
            followed += 1
            place = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            place = place / "index.html" if place.is_dir() else place
            there = place.is_relative_to(site.resolve()) and place.is_file()
            if not there or (place in pages and unquote(parts.fragment) not in pages[place].ids):
                wrong.append(f"{page.relative_to(site.resolve())}: {target}")
    return wrong, followed, outside


def undocumented(site: Path) -> list[str]:
    """Return the public classes, functions and methods (of docs/api.txt) that are missing in the API pages."""
    import causeway

    texts = [page.read_text() for page in (site / "api").rglob("*.html")]
    shown = set().union(*(Links(text).ids for text in texts))
    lacking, bases = [], [""]
    for line in PUBLIC.read_text().splitlines():
        found = re.match(r"(class |    def |def |)(\w+)", line)
        if found is None or "a former name" in line:
            continue
        kind, name = found.groups()
        if kind.startswith("    "):
            lacking += [] if any(f"{base}.{name}" in shown for base in bases) else [f"{bases[0]}.{name}"]
            continue
        what = getattr(causeway, name)
        if not inspect.isclass(what) and not inspect.isfunction(what):  # a constant
            lacking += [] if any(f"<code>{name}</code>" in text for text in texts) else [name]
            continue
        classes = inspect.getmro(what) if inspect.isclass(what) else (what,)
        bases = [f"{one.__module__}.{one.__qualname__}" for one in classes]
        lacking += [] if bases[0] in shown else [bases[0]]
    return lacking


def main() -> None:
    """Check the site in the given folder."""
    site = Path(sys.argv[1])
    wrong, followed, outside = broken(site)
    lacking = undocumented(site)
    print("".join(f"leads nowhere: {link}\n" for link in wrong), end="")
    print(
        f"{followed:,} links inside the site, of which {len(wrong)} lead nowhere; {outside:,} to other sites, not tried"
    )
    print("".join(f"not in the API pages, or without a docstring: {name}\n" for name in lacking), end="")
    sys.exit(bool(wrong or lacking))


if __name__ == "__main__":
    main()
