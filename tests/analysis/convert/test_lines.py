"""Tokens, numbers and times of OMNeT++'s text files, read slowly and fast: both must agree with C's strtod."""

import math
import struct
import tempfile
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from causeway.analysis import convert
from causeway.analysis.convert import declared, kernel, lexer
from causeway.analysis.convert.lexer import BadLine
from tests.helpers.drawn import examples


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("scalar a b 1", ["scalar", "a", "b", "1"]),
        ("scalar \t a\t\tb  1 ", ["scalar", "a", "b", "1"]),
        ("", []),
        (" \t ", []),
        ("# comment with \"odd", []),
        ("  # comment", []),
        ("attr replication #0", ["attr", "replication", "#0"]),
        ('attr a ""', ["attr", "a", ""]),
        ('attr "a b" "c\\"d\\\\"', ["attr", "a b", 'c"d\\']),
        (r'attr a "\b\f\n\r\t\x41\x7Fz\q"', ["attr", "a", "\b\f\n\r\tA\x7fzq"]),
        (r"attr a b\nc", ["attr", "a", r"b\nc"]),
        ('attr a b"c', ["attr", "a", 'b"c']),
        ('attr a "b" ', ["attr", "a", "b"]),
        ('attr a "b \\\\" ', ["attr", "a", "b \\"]),
    ],
)  # fmt: skip
def test_tokens_follow_the_lexical_rules(line, expected):
    assert lexer.tokens(line) == expected


@pytest.mark.parametrize("line", ['attr a "b', 'attr "a b', 'attr a "b\\"', 'attr a "'])
def test_an_unclosed_quote_is_an_error(line):
    with pytest.raises(BadLine, match="closing quote"):
        lexer.tokens(line)


@pytest.mark.parametrize(
    ("token", "value"),
    [
        ("1", 1.0), ("+1.5e3", 1500.0), (".5", 0.5), ("5.", 5.0), ("1e400", math.inf), ("-1e400", -math.inf),
        ("1e-400", 0.0), ("inf", math.inf), ("-inf", -math.inf), ("INFINITY", math.inf), ("1.#INF", math.inf),
        ("-1.#INF", -math.inf), ("0x1p3", 8.0), ("-0x1.8p0", -1.5), ("0x1p99999", math.inf), ("-0", -0.0),
    ],
)  # fmt: skip
def test_numbers_are_what_strtod_accepts(token, value):
    assert struct.pack("d", lexer.number(token)) == struct.pack("d", value)


@pytest.mark.parametrize("token", ["nan", "-nan", "NaN", "nan(0x1)", "1.#IND", "-1.#QNAN0"])
def test_all_spellings_of_not_a_number_are_read(token):
    assert math.isnan(lexer.number(token))


@pytest.mark.parametrize("token", ["", "1_000", "1,5", "abc", "0x", "1e", "--1", "1 2", "infinite", "٣"])
def test_texts_that_are_no_numbers_are_refused(token):
    with pytest.raises(BadLine, match="a number"):
        lexer.number(token)


@pytest.mark.parametrize(
    ("token", "exact"),
    [
        ("0", (0, -12)), ("1.5", (1_500_000_000_000, -12)), ("0.000000000001", (1, -12)),
        ("0.000000000000001", (1, -15)), ("1.0000000000000000", (10**12, -12)),
        ("0.123456789012345678", (123456789012345678, -18)), ("9223372.036854775807", (2**63 - 1, -12)),
        ("9223372.036854775808", (9223372036854775808 // 1, None)), ("12345678901", (12345678901, 0)),
        ("12345678901.5", (123456789015, -1)), ("12345678900", (123456789, 2)), ("-1.5", (-1_500_000_000_000, -12)),
        ("1e-3", (10**9, -12)),
    ],
)  # fmt: skip
def test_times_are_exact(token, exact):
    if exact[1] is None:
        with pytest.raises(BadLine, match="64 bits"):
            lexer.exact_time(token)
    else:
        assert lexer.exact_time(token) == exact


def kernel_parse(raw: bytes, table, columns_out, base: int = 0):
    """Parse a buffer: (status, position, rows), with the values that are left to strtod filled in."""
    unread, text = np.zeros((2, len(columns_out[0])), np.int32), np.zeros(len(raw), np.uint8)
    status, at, rows, left = kernel.parse(
        np.frombuffer(raw, np.uint8), 0, len(raw), base, table, *columns_out, 0, unread, text
    )
    begins = [0, *unread[1].tolist()]
    for row, begin, end in zip(unread[0, :left].tolist(), begins, unread[1].tolist(), strict=False):
        columns_out[4][row] = float(text[begin:end].tobytes())
    return status, at, rows


def parse(lines: str, columns: int = 3):
    """Parse lines: (status, rows)."""
    room = lines.count("\n") + 1
    columns_out = [np.zeros(room, kind) for kind in (np.int64, np.int64, np.int64, np.int8, np.float64)]
    status, _, rows = kernel_parse(lines.encode(), declared.hash_table([(7, columns, 0)]), columns_out, 1)
    return status, list(zip(*(column[:rows].tolist() for column in columns_out), strict=True))


@pytest.mark.parametrize(
    "line",
    ["7\t1\t2\t3\n", " 7  1 \t2 3 \n", "7\t1\t2\t3\r\n", "\n# x\n7\t1\t2\t3\n"],
)
def test_separators_comments_and_line_ends_do_not_matter(line):
    assert parse(line) == (declared.DONE, [(7, 1, 2 * 10**12, -12, 3.0)])


@pytest.mark.parametrize(
    "line",
    [
        "7\t1\t2\n", "7\t1\t2\t3\t4\n", "7\t1\t2\tx\n", "7\tx\t2\t3\n", "7\t1\tx\t3\n", "7x\t1\t2\t3\n", "7\n",
        "7\t1\n", "7\t1.5\t2\t3\n", "7\t1\t2\t3e\n", "7\t1\t2\t\n", "7\t1\t2\tnano\n", "7\t1\t2\t-\n",
    ],
)  # fmt: skip
def test_a_line_of_another_shape_is_never_read_as_something(line):
    assert parse(line) == (declared.ODD, [])


@settings(max_examples=examples(300))
@given(st.floats(), st.sampled_from(["%.14g", "%.17g", "%.6e", "%g", "%.3f", "%r"]))
@example(5e-324, "%.17g")
@example(2.2250738585072011e-308, "%.17g")
@example(1.7976931348623157e308, "%.17g")
def test_the_compiled_reader_agrees_with_strtod(value, form):
    token = form % value
    status, rows = parse(f"7\t1\t2\t{token}\n")
    if status == declared.ODD:  # handed to the slow reader, which must know it
        assert struct.pack("d", lexer.number(token)) == struct.pack("d", float(token))
    else:
        assert struct.pack("d", rows[0][4]) == struct.pack("d", float(token)), token


def test_ordinary_numbers_are_not_left_to_the_slow_reader():
    tokens = ["0", "-1", "0.5", "1e-30", "1.2345678901234e-77", "1.2345678901234e+200", "12345678901234", "nan", "-inf"]
    status, rows = parse("".join(f"7\t1\t2\t{token}\n" for token in tokens))
    assert status == declared.DONE and len(rows) == len(tokens)


@settings(max_examples=examples(300))
@given(st.integers(0, 10**13), st.integers(0, 18), st.integers(0, 10**18 - 1))
@example(9223372, 12, 36854775807)
@example(9223372, 12, 36854775808)
@example(0, 18, 1)
@example(12, 15, 0)
def test_both_readers_give_the_same_exact_time(whole, decimals, fraction):
    token = str(whole) + (f".{fraction % 10**decimals:0{decimals}d}" if decimals else "")
    status, rows = parse(f"7\t1\t{token}\t3\n")
    if status == declared.DONE:
        assert rows[0][2:4] == lexer.exact_time(token)
        assert rows[0][2] * Fraction(10) ** rows[0][3] == Fraction(token)


@pytest.mark.parametrize(
    "token", ["0.1", "123456.123456789012", "0.123456789012345678", "5.123456789012345", "99999999999"]
)
def test_times_of_every_resolution_are_read_compiled(token):
    assert parse(f"7\t1\t{token}\t3\n")[0] == declared.DONE


def test_runs_of_digits_of_every_length_are_read():
    for length in range(1, 19):
        digits = "1234567890987654321"[:length]
        (row,) = parse(f"7\t{digits}\t{digits[:6]}.{digits[:12]}\t{digits}\n")[1]
        assert row[1] == int(digits) and row[4] == float(digits)
        assert row[2] * Fraction(10) ** row[3] == Fraction(f"{digits[:6]}.{digits[:12]}")
    assert parse(f"7\t{'1' * 19}\t1\t1\n")[0] == declared.ODD, "more digits than 64 bits may hold are read slowly"


@pytest.mark.parametrize("byte", [*range(9), *range(11, 13), *range(14, 32), *range(33, 48), *range(58, 256)])
def test_only_digits_are_digits(byte):
    raw = b"7\t1" + bytes([byte]) + b"2\t2\t3\n"
    out = [np.zeros(2, kind) for kind in (np.int64, np.int64, np.int64, np.int8, np.float64)]
    assert kernel_parse(raw, declared.hash_table([(7, 3, 0)]), out)[0] == declared.ODD


def test_data_before_its_declaration_is_not_read():
    raw = b"7\t1\t2\t3\n"
    out = [np.zeros(2, kind) for kind in (np.int64, np.int64, np.int64, np.int8, np.float64)]
    late = declared.hash_table([(7, 3, 100)])
    assert kernel_parse(raw, late, out)[0] == declared.UNDECLARED
    assert kernel_parse(raw, declared.hash_table([(8, 3, 0)]), out)[0] == declared.UNDECLARED


def test_the_hash_table_finds_every_id_however_they_collide():
    ids = [i * 65536 for i in range(1000)] + [3, 2**31 - 1]
    table = declared.hash_table((i, 2, 0) for i in ids)
    lines = "".join(f"{i} 1 2\n" for i in ids).encode()
    out = [np.zeros(len(ids), kind) for kind in (np.int64, np.int64, np.int64, np.int8, np.float64)]
    status, _, rows = kernel_parse(lines, table, out)
    assert (status, rows, out[0].tolist()) == (declared.DONE, len(ids), ids)


@settings(max_examples=examples(20))
@given(st.lists(st.tuples(st.floats(allow_nan=False), st.sampled_from(["%.14g", "%.17g", "%.30e", "%r"])), min_size=1))
@example([(5e-324, "%.17g"), (1.7976931348623157e308, "%.17g"), (-0.0, "%r"), (1e-12, "%.14g")])
@example([(1.5, "%re-20"), (1.5, "%re400"), (-1.5, "%re999"), (1.5, "%re-400")])
def test_the_values_of_a_converted_file_agree_with_strtod(numbers):
    written = [form % value for value, form in numbers]
    lines = "".join(f"0\t{i}\t{i}\t{token}\n" for i, token in enumerate(written))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "f.vec")
        path.write_text(f"version 3\nrun R\nvector 0 m v ETV\n{lines}")
        found = convert.pandas_tables([path])["samples"].value
    assert [struct.pack("d", value) for value in found] == [struct.pack("d", float(token)) for token in written]
