"""Edit a source text, and fail where the text to replace is not there: an edit that does nothing tests nothing."""


def edited(text: str, *changes: tuple[str, str]) -> str:
    """Return the text with each (old, new) replaced wherever it occurs."""
    for old, new in changes:
        assert old in text, f"the text to replace is not there: {old!r}"
        text = text.replace(old, new)
    return text
