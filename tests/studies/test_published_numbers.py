"""Every number that four of the papers print as a result is a row of the published data, measured or with the reason.

The lists below are typed from the papers, table by table, and know nothing of the CSV files. (mobile20 has its own.)
"""

from __future__ import annotations

from collections import Counter

import pytest

from causeway.analysis.reduce.expression import names
from causeway.studies import registry
from causeway.studies.parameters import make_params
from causeway.studies.registry import PUBLISHED
from tests.helpers.published_numbers import load_published

PRINTED = {
    ("hash", "Table 1"): "507 502 0",
    ("hash", "Table 2"): "0.000221 0.00068 0.000281 0.000614 0.000578",
    ("dcs23", "Section V-B1"): "260 58 231",
    ("dcs23", "Section V-B2"): "97 45 305 6",
    ("dcs23", "Section V-C"): "200 70 90",
    ("icpp18", "Table 1"): """240 232 3.33 3.02 992 919 7.36 5.77 4032 3513 12.87 9.05 16256 13759 15.36 11.04
        65280 49262 24.54 15.41 261632 191528 26.79 16.70 1047552 745943 28.79 19.14""",
    ("icpp18", "Section 5.1"): "28.8 3 19",
    ("icpp18", "Table 2"): "84.59 9.16 59.46 3.12 20.25 1.26 8.18 0.66 4.31 1.2 7.8 79 15 4",
    ("icpp18", "Table 3"): "52.66 63.67 31.28 30.30 7.62 6.03 3.91 0 4.54 0",
    ("icpp18", "Section 5.2"): "2.73 8.45 0.29 117",
    ("icpp18", "Fig. 6"): "27 28.5 18.4 54 1 23",
    ("icpp18", "Fig. 7"): "2.1 2.2 3.9 4.1 8.1 -7.4 53.4 50 3.2 -12.2 5 53.4",
    ("icpp18", "Fig. 8"): "0 13.6 -59 -74",
    ("icpp18", "Fig. 9"): "50 569 25 24 212",
    ("icpp18", "Fig. 10"): "95.5 14 833 81.3",
    ("icpp18", "Fig. 11"): "86 84",
    ("ladc18", "Table 2"): """14.7 480 24.7 30 25.5 168 88.7 30 88.7 162
        11.6 480 24.7 60 24.7 188 88.7 60 88.7 190
        9.0 480 24.7 104 24.7 192 88.7 104 88.7 192
        7.2 480 24.7 176 24.7 192 88.7 176 88.7 192
        6.1 480 24.7 272 24.7 304 88.7 272 88.7 304""",
    ("ladc18", "Table 3"): """6.5 12.8 18.5 24.8 18.5 24.8 66.5 66.6 66.5 66.6
        8.7 15.4 24.7 31.1 24.7 31.1 88.7 88.8 88.7 88.8
        11.2 18.4 30.9 37.4 30.1 36.5 110.9 111.0 110.9 111.0
        17.6 23.3 37.1 43.7 36.2 42.7 133.1 133.2 133.1 133.2
        30.3 35.0 43.3 49.8 42.6 48.8 155.3 155.4 155.3 155.6
        55.8 66.2 49.5 56.0 50.4 56.9 177.5 177.6 177.5 177.8
        106.9 125.8 55.4 61.8 63.8 72.7 199.7 199.9 199.7 200.2
        209.2 243.9 58.4 67.8 92.6 104.2 214.4 222.3 224.8 231.9""",
    ("ladc18", "Table 4"): """112 91 80 67 80 67 80 59 80 59 480 435 272 247 304 273 272 235 304 256
        1984 1889 800 766 1024 981 800 749 1024 952 8064 7860 2240 2191 3584 3429 2240 2167 3520 3349
        32512 32079 6016 5947 11904 11635 6016 5917 12032 11742
        130560 129643 15104 15019 42240 41624 15104 14985 42240 41802
        523264 521350 39424 38639 155136 153280 40448 40032 155136 154020
        2095104 2091167 106496 105188 587776 580983 100352 100580 581632 576723""",
    ("ladc18", "Table 5"): """22.2 11.5 32.3 10.6 32.3 15.5 72.5 6.2 72.5 6.2
        35.9 9.8 50.8 10.1 50.8 19.2 109.5 10.8 110.1 10.5 62.0 6.0 80.7 5.9 80.7 23.2 154.3 5.9 154.2 6.3
        63.0 3.5 84.8 3.6 84.8 24.2 176.2 3.8 175.7 4.1 70.1 2.4 89.8 2.7 89.7 24.2 196.1 3.0 197.2 3.2
        85.2 0.4 90.6 0.2 91.5 22.2 212.0 0.3 213.4 0.5 129.4 0.1 96.3 0.1 103.5 19.1 233.3 0.0 233.4 0.0
        247.0 0.3 102.1 0.0 129.4 14.7 255.3 0.2 267.6 0.3""",
    ("ladc18", "Section 6.2"): "100",
    ("ladc18", "Section 6.3"): "2046 1023 1023 80 4 2095104 106496",
}
NOT_MEASURED = "cannot_be_compared"
SAYING = ("published", "low", "high")
"""The columns of a row that say a number."""


@pytest.fixture(scope="module")
def rows():
    found = load_published(PUBLISHED)
    return found[found["paper"].isin({paper for paper, _ in PRINTED})]


@pytest.mark.parametrize(("paper", "where"), PRINTED)
def test_every_printed_number_has_a_row(rows, paper, where):
    there = rows[(rows["paper"] == paper) & (rows["where"].str.startswith(where))]
    published = Counter(float(value) for name in SAYING for value in there[name].dropna())
    printed = Counter(float(value) for value in PRINTED[paper, where].split())
    missing = dict(printed - published)
    assert not missing, f"{paper}, {where}: these numbers have no row"


def test_a_published_number_that_is_not_measured_has_a_reason(rows):
    silent = rows[rows["scalar"] == NOT_MEASURED]
    assert len(silent) > 10
    assert silent["note"].str.contains(r"cannot be compared: \w+").all()
    others = rows[rows["scalar"] != NOT_MEASURED]
    assert not others["note"].str.contains("cannot be compared").any()
    assert not any(NOT_MEASURED in names(scalar) for scalar in others["scalar"])


def test_every_row_is_a_point_of_its_study(rows):
    for row in rows.to_dict("records"):
        assert make_params(registry.get(row["study"]), row["parameters"]) is not None, row


def test_a_bound_is_data_and_not_a_word_in_a_note(rows):
    assert not rows["note"].str.contains("relation:").any()
    bounds = rows[rows["paper"].isin({"icpp18", "ladc18"}) & rows["relation"].isin({"<", ">", "to"})]
    assert len(bounds) >= 17 and bounds["published"].isna().all()
