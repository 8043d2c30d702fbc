"""The generated pages are those of the code that is here."""

from __future__ import annotations

from causeway.cli import reference


def test_the_reference_page_is_up_to_date():
    assert reference.PAGE.read_text() == reference.page(), "run `python -m causeway.cli.reference`"
