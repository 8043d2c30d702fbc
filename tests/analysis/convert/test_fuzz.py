"""Random files of pieces of the format and of nonsense give rows or an error message, never a traceback or a hang.

python -m tests.analysis.convert.test_fuzz SECONDS [FILES [SEED]]    # as many as fit, and how many that were
"""

from __future__ import annotations

import gzip
import itertools
import sys
import tempfile
import time
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from causeway.analysis import convert, store
from causeway.analysis.convert import job
from causeway.errors import UserError
from tests.analysis.convert.made_up import made_up
from tests.helpers.drawn import examples

SLOW_S = 5.0
"""No file of some hundred bytes may take so much processor time."""
BATCH = 500

odd = st.one_of(
    st.sampled_from([
        b"\f", b"\x0b", b"\xa0", b"\xc2\xa0", b"\xe2\x80\xa8", b"\x85", b"\x1c", b"\0", b"\xef\xbb\xbf", b'"', b'""',
        b'"a', b"\\", b'"\\x', b'"\\xC3\\xA9"', b'"\\"', b"#",
        b"inf", b"-inf", b"nan", b"1.#IND", b"1e999", b"0x1p9999999999",
        b"-", b"+", b".", b"1" * 400, b"0." + b"9" * 400, b"1" + b"0" * 5000, b"9223372036854775808",
        b"-1", b"\r", b"\xff",
        b"..", b"/", b"%", b"@", b"~", b"\xed\xa0\x80", b"1_0", b"\xd9\xa3",
    ]),
    st.binary(max_size=6),
)  # fmt: skip
names = st.sampled_from([b"a", b"b", b"Net.host[0]", b'"a b"', b"x:last", b'""'])
numbers = st.sampled_from([b"0", b"1", b"-2.5", b"3e-7", b"1.23456789012345", b"nan", b"7", b"12345678901234567890"])
ids = st.sampled_from([b"0", b"1", b"2", b"9999999999"])
columns = st.sampled_from([b"ETV", b"TV", b"VT", b"VTE", b"EV", b"V", b"TVX", b"7", b""])
kinds = st.sampled_from(b"version run attr itervar config param scalar par statistic field bin vector file #".split())


def token(usual):
    return st.one_of(usual, usual, usual, usual, odd)


usual_lines = st.one_of(
    st.tuples(st.just(b"version"), token(st.sampled_from([b"2", b"3"]))), st.tuples(st.just(b"run"), token(names)),
    st.tuples(st.sampled_from([b"attr", b"itervar", b"config", b"param"]), token(names), token(names)),
    st.tuples(st.just(b"scalar"), token(names), token(names), token(numbers)),
    st.tuples(st.just(b"par"), token(names), token(names), token(names)),
    st.tuples(st.just(b"statistic"), token(names), token(names)),
    st.tuples(st.just(b"field"), token(names), token(numbers)),
    st.tuples(st.just(b"bin"), token(numbers), token(numbers)),
    st.tuples(st.just(b"vector"), token(ids), token(names), token(names), token(columns)),
    st.tuples(token(ids), token(numbers), token(numbers)),
    st.tuples(token(ids), token(numbers), token(numbers), token(numbers)),
    st.lists(token(st.one_of(kinds, names, numbers)), max_size=5).map(tuple),
)  # fmt: skip
separators = st.sampled_from([b" ", b" ", b"\t", b"  ", b" \t"])
ends = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b"", b"\n\n"])
lines = st.builds(lambda parts, between, end: between.join(parts) + end, usual_lines, separators, ends)
bodies = st.lists(lines, max_size=25).map(b"".join)
files = st.one_of(bodies, bodies.map(lambda body: b"version 3\nrun R\nattr configname C\n" + body))


def fuzz(content: bytes, folder: Path) -> None:
    """Convert one file with and without `--keep-going`, and check that the tables are complete."""
    path = folder / "f.vec"
    path.write_bytes(content)
    try:
        piece = job.read_file(path, folder / "out", None, keep_going=True)
    except UserError as error:
        assert str(path) in str(error)
        return
    if not piece.report.problem_count:
        assert job.read_file(path, folder / "out", None).report.rows == piece.report.rows
        return
    try:
        job.read_file(path, folder / "out", None)
    except UserError as error:
        assert str(path) in str(error) and "expected" in str(error)
    else:
        raise AssertionError("a bad line that ends nothing without --keep-going")


@settings(max_examples=examples(150))
@given(content=files)
def test_any_file_gives_rows_or_an_error_message(content, tmp_path):
    begun = time.process_time()
    fuzz(content, tmp_path)
    assert time.process_time() - begun < SLOW_S


@settings(max_examples=examples(20))
@given(contents=st.lists(files, min_size=1, max_size=4), packed=st.booleans())
def test_any_files_together_are_committed_completely(contents, packed):
    with tempfile.TemporaryDirectory() as name:
        folder, out = Path(name) / "in", Path(name) / "out"
        folder.mkdir()
        for number, content in enumerate(contents):
            whole = gzip.compress(content) if packed else content
            (folder / f"f{number}.sca{'.gz' if packed else ''}").write_bytes(whole or b"\n")
        for clash in ("merge", "apart", "refuse"):
            convert.convert([folder], out, keep_going=True, clash=clash)
            tables = {table: store.read_pandas(out, table) for table in ("runs", "scalars", "samples", "attributes")}
            ids = set(tables["runs"].run_id)
            assert len(ids) == len(tables["runs"])
            assert all(set(table.run_id) <= ids for table in tables.values())


def main(seconds: float, most: int, seed: int) -> None:
    """Fuzz for a time or with a number of files, and print the number."""
    count = 0
    end, source = time.monotonic() + seconds, made_up(seed)
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as name:
        while time.monotonic() < end and not 0 < most <= count:
            contents, began = list(itertools.islice(source, BATCH)), time.process_time()
            for number, content in enumerate(contents):
                try:
                    fuzz(content, Path(name))
                except BaseException:
                    print(f"file {count + number} of seed {seed}: {content!r}", flush=True)
                    raise
            assert time.process_time() - began < SLOW_S, f"one of files {count} to {count + BATCH} of seed {seed}"
            count += BATCH
    print(f"{count} files, {time.process_time():.0f} CPU seconds: no exception but the converter's own")


if __name__ == "__main__":
    given = sys.argv[1:]
    main(float(given[0]), int(given[1]) if len(given) > 1 else 0, int(given[2]) if len(given) > 2 else 1)
