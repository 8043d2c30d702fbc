"""Scalars that are read many at once equal those that are read one by one, whatever lines are between them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.analysis import convert, store
from causeway.analysis.convert import scalar_lines, text
from tests.helpers.drawn import examples

HEAD = "version 3\nrun R-1\nattr configname Base\nattr note #0\n\n"
LINES = [
    "scalar Net.a sent 1", "scalar Net.a sent 2.5e-7", 'attr title "sent, count"', "attr unit s", 'attr "" ""',
    'attr "a b" x', "attr replication #0", 'scalar "a b" "c d" -3', "scalar a\tb \t 7", "scalar a b nan",
    "scalar a b -inf",
]  # fmt: skip
ODD = [
    r'scalar "a\tb" c 1', "scalar café b 1", "scalar a b 0x1p3", "scalar a b 123456789012345678901234567890",
    "statistic m h\nfield count 3\nattr unit ms\nbin 0 1", "par m p 1\nattr unit q", " scalar a b 5", "# note", "",
    'attr late "\\x41"', "scalar a b infinity", "version 3",
]  # fmt: skip
BAD = [
    "scalar a b x", "scalar a b", "scalar a b 1 2", 'attr a "b', "attr a", "nonsense", 'scalar a "b',
    "scalar a b 1.2.3", "vector 3 m v TV\nattr unit s",
]  # fmt: skip


def read_both_ways(body: str, tmp_path, monkeypatch_context):
    path = tmp_path / "f.sca"
    path.write_bytes((HEAD + body).encode())
    found = []
    for least in (1, 1 << 40):
        with monkeypatch_context() as patch:
            patch.setattr(scalar_lines, "LEAST_LINES", least)
            report = convert.convert([path], tmp_path / f"out{least}", keep_going=True)
        frames = {}
        for name in ("scalars", "attributes", "statistics", "bins", "pars", "vectors"):
            frame = store.read_pandas(tmp_path / f"out{least}", name)
            order = [column for column in ("owner", "position", "name", "value") if column in frame]
            frames[name] = frame.sort_values(order, ignore_index=True)
        found.append((report.problems, frames))
    return found


def assert_same(found):
    (problems, fast), (expected_problems, slow) = found
    assert problems == expected_problems
    for name, frame in slow.items():
        assert fast[name].equals(frame), name
        for column in frame.select_dtypes("float"):
            assert (np.signbit(fast[name][column]) == np.signbit(frame[column])).all()


@pytest.mark.slow
@settings(max_examples=examples(60))
@given(body=st.lists(st.sampled_from(LINES * 6 + ODD + BAD), max_size=40), end=st.sampled_from(["\n", "\r\n"]))
def test_both_readers_return_the_same_rows(body, end, tmp_path_factory):
    folder = tmp_path_factory.mktemp("f")
    assert_same(read_both_ways("".join(line + end for line in body), folder, pytest.MonkeyPatch.context))


def test_many_scalars_over_many_chunks(tmp_path, monkeypatch):
    body = "".join(f"scalar Net.h[{i % 7}] s{i} {i * 0.37:.14g}\nattr unit s\n" for i in range(5000))
    monkeypatch.setattr(text, "chunks", lambda fd, start, end, size=5000, real=text.chunks: real(fd, start, end, size))
    assert_same(read_both_ways(body, tmp_path, pytest.MonkeyPatch.context))


def test_plain_scalars_are_not_left_to_the_slow_reader(tmp_path, monkeypatch):
    read = []
    real = text.RecordReader.read
    monkeypatch.setattr(text.RecordReader, "read", lambda self, line, at: read.append(line) or real(self, line, at))
    path = tmp_path / "f.sca"
    path.write_text(HEAD + "".join(f'scalar m s{i} {i}\nattr title "a b"\n' for i in range(3000)))
    tables = convert.pandas_tables([path])
    assert len(tables["scalars"]) == 3000 and len(tables["attributes"]) == 3002 and len(read) < 1100
