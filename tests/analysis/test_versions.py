"""Runs of different code are distinguished."""

from __future__ import annotations

import pandas as pd

from causeway.analysis.versions import distinguished, distinguished_together


def runs(*codes: str | None) -> pd.DataFrame:
    return pd.DataFrame({"study": "toy", "engine": "inline", "code": list(codes)})


def test_an_engines_name_contains_the_code_only_if_there_are_several() -> None:
    assert distinguished(runs("abcdef99", "abcdef99"))["engine"].tolist() == ["inline", "inline"]
    assert distinguished(runs("abcdef99", None))["engine"].tolist() == ["inline @abcdef", "inline @unknown"]


def test_folders_of_one_code_each_are_compared_and_a_mixed_one_code_by_code() -> None:
    one, other = distinguished_together([runs("aaaaaa"), runs("bbbbbb")])
    assert one["engine"].tolist() == other["engine"].tolist() == ["inline"]
    mixed, other = distinguished_together([runs("aaaaaa", "bbbbbb"), runs("bbbbbb")])
    assert mixed["engine"].tolist() == ["inline @aaaaaa", "inline @bbbbbb"] and other["engine"][0] == "inline @bbbbbb"
