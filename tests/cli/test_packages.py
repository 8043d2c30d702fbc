"""The graph of packages in docs/design.md."""

from __future__ import annotations

import pytest

from causeway.cli import packages


def test_the_page_shows_the_packages_as_they_import_each_other() -> None:
    assert packages.MARKED.search(packages.PAGE.read_text())
    assert packages.page() == packages.PAGE.read_text(), "run `python -m causeway.cli.packages`"


def test_no_package_imports_itself_indirectly() -> None:
    for package in packages.packages():
        assert package not in packages.below(package)


def test_a_cycle_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "graph", lambda: {"a": frozenset("b"), "b": frozenset("a")})
    with pytest.raises(ValueError, match="a -> b -> a"):
        packages.below("a")


def test_an_import_that_follows_from_others_has_no_arrow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packages, "packages", lambda: ["a", "b", "c"])
    monkeypatch.setattr(packages, "graph", lambda: {"a": frozenset("bc"), "b": frozenset("c"), "c": frozenset()})
    assert packages.arrows() == [("a", "b"), ("b", "c")]
