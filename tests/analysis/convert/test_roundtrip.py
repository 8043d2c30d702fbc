"""A small writer that follows the format, and the reader: every value survives the round trip."""

import math
import tempfile
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.analysis import convert, delta, files, store
from tests.helpers.drawn import examples

_NAMED = {"\b": "\\b", "\f": "\\f", "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


def quoted(text: str) -> str:
    """Return a token in OMNeT++'s form, which has quotes only where they are needed."""
    if text and not any(c in ' \\"' or ord(c) < 32 or ord(c) == 127 for c in text):
        return text
    body = "".join(_NAMED.get(c) or (f"\\x{ord(c):02X}" if ord(c) < 32 or ord(c) == 127 else c) for c in text)
    return f'"{body}"'


texts = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
names = texts.filter(lambda text: not text.startswith("#"))
doubles = st.floats(allow_nan=True).map(lambda value: float(f"{value:.14g}"))
times = st.tuples(st.integers(0, 2**63 - 1), st.sampled_from([0, -3, -6, -9, -12, -15, -18]))
attributes = st.lists(st.tuples(names, texts), max_size=3, unique_by=lambda pair: pair[0])
scalars = st.tuples(st.just("scalar"), names, names, doubles, attributes)
pars = st.tuples(st.just("par"), names, names, texts, attributes)
statistics = st.tuples(
    st.just("statistic"), names, names,
    st.tuples(
        st.lists(st.tuples(st.sampled_from(["count", "mean", "min", "sqrsum"]), doubles), min_size=1, max_size=4),
        st.lists(st.tuples(doubles, doubles), max_size=4),
    ),
    attributes,
)  # fmt: skip
vectors = st.tuples(
    st.just("vector"), names, names,
    st.tuples(st.booleans(), st.lists(st.tuples(st.integers(0, 2**63 - 1), times, doubles), max_size=5)),
    attributes,
)  # fmt: skip
items = st.lists(st.one_of(scalars, pars, statistics, vectors), max_size=6)
headers = st.tuples(
    names.filter(lambda name: name and not store.is_path(name)),
    attributes,
    attributes,
    st.lists(st.tuples(names, texts), max_size=3),
)


def spelled(time: tuple[int, int]) -> str:
    text = f"{Decimal(time[0]).scaleb(time[1]):f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def write(header, items) -> str:
    """Write a result file with these items. The data of a vector follows the declaration of the next one."""
    run, run_attributes, itervars, config = header
    lines = ["version 3", f"run {quoted(run)}"]
    lines += [f"attr {quoted(name)} {quoted(value)}" for name, value in run_attributes]
    lines += [f"itervar {quoted(name)} {quoted(value)}" for name, value in itervars]
    lines += [f"config {quoted(name)} {quoted(value)}" for name, value in config]
    lines.append("")
    waiting: list[str] = []
    for number, (kind, module, name, content, own) in enumerate(items):
        place = f"{quoted(module)} {quoted(name)}"
        late: list[str] = []
        if kind == "scalar":
            lines.append(f"scalar {place} {content:.14g}")
        elif kind == "par":
            lines.append(f"par {place} {quoted(content)}")
        elif kind == "statistic":
            lines += [f"statistic {place}", *(f"field {field} {value:.14g}" for field, value in content[0])]
            late = [f"bin\t{edge:.14g}\t{value:.14g}" for edge, value in content[1]]
        else:
            lines.append(f"vector {number} {place} {'ETV' if content[0] else 'TV'}")
        lines += [*(f"attr {quoted(key)} {quoted(value)}" for key, value in own), *late, *waiting]
        waiting = []
        if kind == "vector":
            for event, time, value in content[1]:
                middle = f"{event}\t" if content[0] else ""
                waiting.append(f"{number}\t{middle}{spelled(time)}\t{value:.14g}")
    return "\n".join([*lines, *waiting, ""])


def bits(value: float) -> str:
    return "nan" if math.isnan(value) else value.hex()


def expected(items) -> dict[str, list[tuple]]:
    found: dict[str, list[tuple]] = {
        name: [] for name in ("scalars", "pars", "statistics", "bins", "vectors", "samples")
    }
    for number, (kind, module, name, content, own) in enumerate(items):
        if kind == "scalar":
            found["scalars"].append((module, name, bits(content)))
        elif kind == "par":
            found["pars"].append((module, name, content))
        elif kind == "statistic":
            found["statistics"] += [(module, name, field, bits(value)) for field, value in content[0]]
            found["bins"] += [(module, name, i, bits(e), bits(v)) for i, (e, v) in enumerate(content[1])]
        else:
            found["vectors"].append((number, module, name, dict(own).get("unit", ""), "ETV" if content[0] else "TV"))
            found["samples"] += [
                (number, event if content[0] else None, Decimal(time[0]).scaleb(time[1]), bits(value))
                for event, time, value in content[1]
            ]
    return found


def read(text: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "f.vec"
        path.write_bytes(text.encode())
        return convert.pandas_tables([path])


def plain(tables) -> dict[str, list[tuple]]:
    """Return our tables in the form of `expected`."""
    found: dict[str, list[tuple]] = {}
    for name in ("scalars", "pars", "statistics", "bins", "vectors"):
        counted = {"run_id", "item_position"} | (set() if name == "bins" else {"position"})  # in test_odd_files
        frame = tables[name].drop(columns=[column for column in tables[name] if column in counted])
        rows = frame.itertuples(index=False, name=None)
        found[name] = [tuple(bits(cell) if isinstance(cell, float) else cell for cell in row) for row in rows]
    found["samples"] = [
        (row.vector_id, None if row.event is not row.event or str(row.event) == "<NA>" else int(row.event),
         Decimal(row.time_raw).scaleb(row.time_exp), bits(row.value))
        for row in tables["samples"].itertuples()
    ]  # fmt: skip
    return found


@pytest.fixture(scope="module", autouse=True)
def no_waiting_for_the_disk():
    """Do not flush files, which would take most of the time here and is tested elsewhere."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (files, delta):
            patch.setattr(module, "flush", lambda path: None)
        yield


@settings(max_examples=examples(30))
@given(headers, items)
def test_every_written_record_is_read(header, items):
    tables = read(write(header, items))
    assert plain(tables) == expected(items)
    run, run_attributes, itervars, config = header
    assert tables["runs"].run_id.tolist() == [run]
    assert list(tables["config"][["name", "value"]].itertuples(index=False, name=None)) == config
    own = [(kind, module, name, key, value) for kind, module, name, _, pairs in items for key, value in pairs]
    all_attributes = [("run", "", "", key, value) for key, value in run_attributes] + own
    columns = ["owner", "module", "item", "name", "value"]
    assert sorted(tables["attributes"][columns].itertuples(index=False, name=None)) == sorted(all_attributes)
    if itervars:
        assert list(tables["parameters"][["name", "value"]].itertuples(index=False, name=None)) == itervars


def test_the_round_trip_detects_a_reader_that_drops_escapes(monkeypatch):
    from causeway.analysis.convert import lexer

    header, items = ("R", [], [], []), [("par", "m", "p", 'say "a\tb"', [])]
    assert plain(read(write(header, items))) == expected(items)
    monkeypatch.setattr(lexer, "unescape", lambda text: text)
    assert plain(read(write(header, items))) != expected(items)
