"""Checks the built site: every link and picture leads to a file of the site, and every anchor to an element in it.

    python docs/links.py build/site        # exits with status 1, and names each link that leads nowhere

mkdocs checks the links that pages contain as Markdown; this checks what became of them, of links in HTML and of those
that the theme, the API reference and the pages of source files add. Links to other sites are counted, not followed.
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

TARGETS = {"a": "href", "link": "href", "img": "src", "script": "src"}
FORGIVING = "404.html"
"""The page that a server shows in place of a missing one: its links start at the site's root."""


class Links(HTMLParser):
    """The links of a page, and the ids of its elements."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: set[str] = set()
        self.ids: set[str] = {""}
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what the element points to, and its id."""
        values = dict(attrs)
        self.ids |= {value for name in ("id", "name") if (value := values.get(name))}
        if target := values.get(TARGETS.get(tag, "")):
            self.targets.add(target)


def broken(site: Path) -> tuple[list[str], int, int]:
    """Return the links that lead nowhere (page: link), how many were followed, and how many lead to other sites."""
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


def main() -> None:
    """Check the site in the folder that is named."""
    wrong, followed, outside = broken(Path(sys.argv[1]))
    print("".join(f"leads nowhere: {link}\n" for link in wrong), end="")
    print(
        f"{followed:,} links of the site were followed, {len(wrong)} lead nowhere; {outside:,} to other sites were not"
    )
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
