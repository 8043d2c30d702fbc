"""Whole text result files into tables: every record of the format, and files that are wrong."""

import gc
import math
import weakref
from pathlib import Path

import pytest

from causeway.analysis import convert, store
from causeway.analysis.convert import job
from causeway.errors import UserError

HEAD = 'version 3\nrun R-1\nattr configname Base\nattr repetition 4\nitervar n 10\nitervar mode "a b"\nconfig k v\n\n'


def tables_of(tmp_path, text: str | bytes, name: str = "f.vec", **options):
    path = tmp_path / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return convert.pandas_tables([path], **options)


def rows(frame, *columns) -> list[tuple]:
    return list(frame[list(columns)].itertuples(index=False, name=None))


def test_a_header_becomes_runs_parameters_config_and_attributes(tmp_path):
    tables = tables_of(tmp_path, HEAD, "f.sca")
    (run,) = tables["runs"].to_dict("records")
    assert (run["run_id"], run["study"], run["engine"], run["seed"]) == ("R-1", "Base", "omnet", 4)
    assert math.isnan(run["wall_s"]) and run["source"].endswith("/f")
    assert rows(tables["parameters"].fillna(-1.0), "name", "value", "number") == [
        ("n", "10", 10.0),
        ("mode", "a b", -1.0),
    ]
    assert rows(tables["config"], "position", "name", "value") == [(0, "k", "v")]
    assert rows(tables["attributes"], "owner", "name", "value") == [
        ("run", "configname", "Base"), ("run", "repetition", "4"),
    ]  # fmt: skip


def test_config_entries_keep_their_order_and_repeat(tmp_path):
    text = "version 3\nrun R\nconfig **.x 1\nconfig **.y 2\nconfig **.x 3\nparam **.z 4\n"
    assert rows(tables_of(tmp_path, text)["config"], "position", "name", "value") == [
        (0, "**.x", "1"), (1, "**.y", "2"), (2, "**.x", "3"), (3, "**.z", "4"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("listed", "found"),
    [
        ('"$a=1, $b=2"', [("a", "1"), ("b", "2")]), ('"$a=1,$b=x=y"', [("a", "1"), ("b", "x=y")]),
        ('"$a=f(1, 2), $b=2"', [("a", "f(1, 2)"), ("b", "2")]), ('""', []),
        (r'"$b=\"x, $c=2\", $d=3"', [("b", '"x, $c=2"'), ("d", "3")]),
    ],
)  # fmt: skip
def test_version_2_files_report_iteration_variables_in_one_attribute(tmp_path, listed, found):
    tables = tables_of(tmp_path, f"version 2\nrun R\nattr iterationvars {listed}\n\nscalar m s 1\n", "f.sca")
    assert rows(tables["parameters"], "name", "value") == found


def test_an_iteration_variables_own_attribute_has_its_exact_value(tmp_path):
    tables = tables_of(tmp_path, 'version 2\nrun R\nattr iterationvars "$a=1"\nattr a 1.0\n')
    assert rows(tables["parameters"], "name", "value") == [("a", "1.0")]


SCALARS = (
    HEAD + "scalar Net.a count 3\nattr unit s\nattr replication #0\nscalar Net.a count 4\nattr unit ms\n"
    'scalar "Net.b c" "x y" nan\npar Net.a sendIaTime "uniform(1s, 2s)"\nattr unit s\npar Net.a type "\\"App\\""\n'
    "statistic Net.a delay\nfield count 2\nfield mean 1.5\nfield min -inf\nattr unit s\n"
    "bin\t-inf\t0\nbin\t0\t1.5\nbin\t1\t0\n"
)


def test_every_kind_of_scalar_record_is_kept(tmp_path):
    tables = tables_of(tmp_path, SCALARS, "f.sca")
    scalars = tables["scalars"]
    assert rows(scalars, "module", "name")[:3] == [("Net.a", "count"), ("Net.a", "count"), ("Net.b c", "x y")]
    assert scalars.value.tolist()[:2] == [3.0, 4.0] and math.isnan(scalars.value[2])
    assert rows(tables["pars"], "name", "value") == [("sendIaTime", "uniform(1s, 2s)"), ("type", '"App"')]
    assert rows(tables["statistics"], "field", "value") == [("count", 2.0), ("mean", 1.5), ("min", -math.inf)]
    assert rows(tables["bins"], "position", "edge", "value") == [(0, -math.inf, 0.0), (1, 0.0, 1.5), (2, 1.0, 0.0)]


def test_an_attribute_belongs_to_the_right_one_of_two_items_with_one_name(tmp_path):
    attributes = tables_of(tmp_path, SCALARS, "f.sca")["attributes"]
    own = attributes[attributes.owner != "run"]
    assert rows(own, "owner", "item", "name", "value", "position") == [
        ("scalar", "count", "unit", "s", 0), ("scalar", "count", "replication", "#0", 0),
        ("scalar", "count", "unit", "ms", 1), ("par", "sendIaTime", "unit", "s", 0),
        ("statistic", "delay", "unit", "s", 0),
    ]  # fmt: skip


VECTORS = (
    HEAD + "vector 0 Net.a delay ETV\nattr unit s\n0\t1\t0.5\t1\nvector 7 Net.b load TV\n7\t0.25\t-2e-3\n0\t2\t1\tnan\n"
    "vector 3 Net.c old 0\n3 1.000000000000001 4\nvector 4 Net.c older\n4  2  5 \n"
)


def test_vectors_may_be_declared_between_data_and_have_two_or_three_columns(tmp_path):
    tables = tables_of(tmp_path, VECTORS)
    assert rows(tables["vectors"], "vector_id", "module", "name", "unit", "columns") == [
        (0, "Net.a", "delay", "s", "ETV"), (7, "Net.b", "load", "", "TV"), (3, "Net.c", "old", "", "TV"),
        (4, "Net.c", "older", "", "TV"),
    ]  # fmt: skip
    samples = tables["samples"]
    assert samples.vector_id.tolist() == [0, 7, 0, 3, 4]
    assert samples.event.isna().tolist() == [False, True, False, True, True] and samples.event[2] == 2
    assert rows(samples, "time_raw", "time_exp") == [
        (5 * 10**11, -12), (25 * 10**10, -12), (10**12, -12), (10**15 + 1, -15), (2 * 10**12, -12),
    ]  # fmt: skip
    assert samples.value[1] == -0.002 and math.isnan(samples.value[2])


def test_a_last_line_without_a_line_end_is_not_read(tmp_path):
    tables = tables_of(tmp_path, VECTORS + "4\t3\t1.2")
    assert len(tables["samples"]) == 5
    assert len(tables_of(tmp_path, HEAD + "scalar a b 1\nscalar a c 1.2", "f.sca")["scalars"]) == 1


def test_crlf_line_ends_make_no_difference(tmp_path):
    plain, crlf = tables_of(tmp_path, VECTORS), tables_of(tmp_path, VECTORS.replace("\n", "\r\n"))
    for name in ("runs", "parameters", "vectors", "samples", "attributes"):
        assert plain[name].equals(crlf[name]), name


def test_text_that_is_not_utf8_is_kept_byte_for_byte(tmp_path):
    tables = tables_of(tmp_path, HEAD.encode() + b"scalar caf\xe9 b 1\nscalar caf\xc3\xa9 b 1\n", "f.sca")
    assert tables["scalars"].module.tolist() == ["café", "café"]


def test_a_file_may_hold_many_runs_and_the_same_run_twice(tmp_path):
    text = HEAD + "scalar a b 1\n" + "version 3\nrun R-2\n\nscalar a b 2\n" + "version 3\nrun R-1\n\nscalar a b 3\n"
    tables = tables_of(tmp_path, text, "all.sca")
    assert sorted(rows(tables["scalars"], "run_id", "value")) == [("R-1", 1.0), ("R-1", 3.0), ("R-2", 2.0)]
    assert sorted(tables["runs"].run_id) == ["R-1", "R-2"]
    assert len(tables["parameters"]) == 2, "the bare second header does not wipe the first"


def test_the_sca_and_the_vec_of_a_run_make_one_run(tmp_path):
    for name, text in (("r.sca", SCALARS), ("r.vec", VECTORS)):
        (tmp_path / name).write_text(text)
    tables = convert.pandas_tables([tmp_path])
    assert len(tables["runs"]) == 1 and len(tables["scalars"]) == 3 and len(tables["samples"]) == 5
    assert len(tables["config"]) == 1


def test_many_records_are_committed_in_parts_and_none_is_split_from_its_attributes(tmp_path, monkeypatch):
    from causeway.analysis.convert import text

    monkeypatch.setattr(text, "RecordReader", lambda put_away, real=text.RecordReader: real(put_away, 10))
    body = "".join(f"scalar m s{i} {i}\nattr unit u{i}\n" for i in range(100))
    tables = tables_of(tmp_path, HEAD + body, "f.sca")
    assert tables["scalars"].value.tolist() == list(range(100))
    own = tables["attributes"][tables["attributes"].owner == "scalar"]
    assert rows(own, "item", "value", "position") == [(f"s{i}", f"u{i}", i) for i in range(100)]


BAD = [
    ("scalar a b c\n", 9, "a number instead of 'c'"), ("scalar a b\n", 9, "'scalar MODULE NAME VALUE'"),
    ("hello world\n", 9, "a record .* instead of 'hello'"), ('attr a "b\n', 9, "closing quote"),
    ("field x 1\n", 9, "'field' only below a 'statistic'"), ("bin 0 1\n", 9, "'bin' only below a 'statistic'"),
    ("scalar a b 1\nitervar x 1\n", 10, "'itervar' only in the header"), ("version 4\n", 9, "file version 2 or 3"),
    ("scalar a b 1\nconfig x 1\n", 10, "'config' only in the header"), ("vector x a b TV\n", 9, "a vector id"),
    ("vector 1 a b EV\n", 9, "columns ETV or TV"), ("1\t2\t3\n", 9, "declares vector 1 before its data"),
    ("vector 1 a b TV\nvector 1 a c TV\n", 10, "not taken"), ("vector 1 a b ETV\n1\t2\t3\n", 10, "4 columns"),
    ("vector 1 a b TV\n1\t2\t3\t4\n", 10, "3 columns"), ("vector 1 a b TV\n1\tx\t3\n", 10, "a simulation time"),
    ("vector 1 a b TV\n1\t1\t3x\n", 10, "a number instead of '3x'"), ("vector 1 a b ETV\n1\tx\t1\t3\n", 10, "an event"),
    ("1\t2\t3\nvector 1 a b TV\n", 9, "declares vector 1 before"), ("run\n", 9, "'run ID'"),
    ("12ab 1 2\n", 9, "a vector id"),
]  # fmt: skip


@pytest.mark.parametrize(("line", "number", "expected"), BAD)
def test_a_bad_line_is_reported_with_file_line_and_expectation(tmp_path, line, number, expected):
    with pytest.raises(UserError, match=rf"f\.vec:{number}: expected .*{expected}"):
        tables_of(tmp_path, HEAD + line)


@pytest.mark.parametrize(("line", "number", "expected"), BAD)
def test_with_keep_going_the_rest_is_converted(tmp_path, line, number, expected):
    path = tmp_path / "f.vec"
    path.write_text(HEAD + line + "vector 99 good one TV\n99\t1\t2\nscalar good two 3\nattr unit s\n")
    report = convert.convert([path], tmp_path / "out", keep_going=True)
    assert any(f"f.vec:{number}: expected" in problem for problem in report.problems)
    assert 99 in store.read_pandas(tmp_path / "out", "samples").vector_id.tolist()
    assert "two" in store.read_pandas(tmp_path / "out", "scalars").name.tolist()


def test_lines_that_belong_to_a_bad_record_are_left_out_with_it(tmp_path):
    text = HEAD + "scalar a good 1\nattr unit s\nscalar a bad x\nattr unit ms\nscalar a fine 2\n"
    attributes = tables_of(tmp_path, text, "f.sca", keep_going=True)["attributes"]
    assert rows(attributes[attributes.owner == "scalar"], "item", "value") == [("good", "s")]


def test_without_keep_going_a_bad_file_leaves_nothing_behind(tmp_path):
    with pytest.raises(UserError):
        path = tmp_path / "f.vec"
        path.write_text(VECTORS + "4\t1\tx\n")
        convert.convert([path], tmp_path / "out")
    assert store.finished_runs(tmp_path / "out") == set() and not (tmp_path / "out" / "tables").exists()


def test_thousands_of_bad_lines_are_counted_and_some_are_reported(tmp_path):
    path = tmp_path / "f.sca"
    path.write_text(HEAD + "nonsense\n" * 5000 + "scalar a b 1\n")
    report = convert.convert([path], tmp_path / "out", keep_going=True)
    assert report.problem_count == 5000 and len(report.problems) == 1001 and "4000 more" in report.problems[-1]


@pytest.mark.parametrize("text", ["version 3\n", "\n\n# nothing\n", "\x00\x01binary\n"])
def test_a_file_without_a_run_is_refused(tmp_path, text):
    with pytest.raises(UserError, match="expected a"):
        tables_of(tmp_path, text)


def test_paths_that_make_no_sense_are_refused(tmp_path):
    (tmp_path / "f.vci").write_text("")
    for path, why in (
        (tmp_path / "no.sca", "no such file"), (tmp_path, "no result files"), (tmp_path / "f.vci", "f.vec"),
    ):  # fmt: skip
        with pytest.raises(UserError, match=why):
            convert.convert([path], tmp_path / "out")


def test_one_bad_file_among_many_is_reported_and_the_others_are_committed(tmp_path):
    (tmp_path / "a.sca").write_text("garbage")
    (tmp_path / "b.sca").write_text(SCALARS)
    report = convert.convert([tmp_path / "a.sca", tmp_path / "b.sca"], tmp_path / "out", keep_going=True)
    assert len(report.problems) == 1 and store.finished_runs(tmp_path / "out") == {"R-1"}
    assert str(report) == "2 files (2 converted), 1 runs, 0 samples"


def test_a_file_that_was_read_leaves_memory_though_collection_is_off(tmp_path: Path) -> None:
    """A conversion turns garbage collection off: a cycle would keep the rows of every file that was read."""
    path = tmp_path / "a.sca"
    path.write_text("version 3\nrun R\nscalar m s 1\nattr unit s\nstatistic m t\nfield count 1\n")
    gc.disable()
    try:
        piece = weakref.ref(job.read_file(path, tmp_path / "out", None))
        assert piece() is None
    finally:
        gc.enable()
