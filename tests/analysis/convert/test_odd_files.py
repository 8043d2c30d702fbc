"""Unexpected files give rows or an error message of one line, never a traceback."""

import gzip
import math
import sqlite3

import pytest

from causeway.analysis import convert, store
from causeway.analysis.spark import read_spark
from causeway.errors import UserError
from tests.analysis.convert.test_sqlite import LAYOUT, ROWS

HEAD = "version 3\nrun R-1\nattr configname Base\n\n"


def put(folder, text, name="f.sca"):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def tables_of(tmp_path, text, name="f.sca", **options):
    return convert.pandas_tables([put(tmp_path, text, name)], **options)


def test_a_run_without_a_name_is_converted(tmp_path):
    out = tmp_path / "out"
    convert.convert([put(tmp_path, 'version 3\nrun ""\nattr configname Base\n\nscalar a b 1\n')], out)
    assert store.finished_runs(out) == {""} and len(store.read_pandas(out, "scalars")) == 1


@pytest.mark.parametrize("run", ["/etc/passwd", "../x", "a/../../b"])
def test_a_run_id_that_is_a_path_is_a_bad_line(tmp_path, run):
    with pytest.raises(UserError, match=r"f\.sca:2: expected a run id that is not a path"):
        tables_of(tmp_path, HEAD.replace("R-1", run))


def test_a_statistic_without_fields_is_converted(tmp_path):
    statistics = tables_of(tmp_path, HEAD + "statistic a empty\nstatistic a b\nfield count 3\n")["statistics"]
    assert statistics[["name", "field"]].values.tolist() == [["empty", ""], ["b", "count"]]
    assert math.isnan(statistics.value[0])


def test_items_of_one_name_are_distinguished_by_their_position(tmp_path):
    tables = tables_of(
        tmp_path,
        HEAD + "scalar a b 1\nattr unit s\nscalar a b 2\nattr unit ms\n"
        "statistic a h\nfield count 1\nbin 0 1\nstatistic a h\nfield count 2\nbin 0 2\npar a p 1\npar a p 2\n",
    )
    scalars, attributes = tables["scalars"], tables["attributes"]
    units = attributes[attributes.owner == "scalar"].set_index("position")["value"]
    assert [(value, units[position]) for value, position in zip(scalars.value, scalars.position, strict=True)] == [
        (1.0, "s"), (2.0, "ms"),
    ]  # fmt: skip
    assert tables["statistics"].position.tolist() == [0, 1] == tables["bins"].item_position.tolist()
    assert tables["pars"].position.tolist() == [0, 1]


def test_two_scalars_of_one_name_are_one_run_each(tmp_path):
    from causeway.analysis import diff, report

    for folder, values in (("a", (1, 5)), ("b", (5, 1))):
        source = put(tmp_path / folder, HEAD + "".join(f"scalar m x {value}\n" for value in values))
        convert.convert([source], tmp_path / f"out-{folder}")
    assert not diff.diff(tmp_path / "out-a", tmp_path / "out-b").passed, "their mean is the same, they are not"
    report.write(tmp_path / "out-a")
    text = (tmp_path / "out-a" / "report" / "scalars.csv").read_text()
    assert ",x,1,1.0," in text and ",x #2,1,5.0," in text


@pytest.mark.parametrize("name", ["F.SCA", "f.Sca", "f.sca.gz", "f.SCA.GZ"])
def test_capitals_and_compressed_files_are_results_too(tmp_path, name):
    text = (HEAD + "scalar a b 1\n").encode()
    put(tmp_path / "results", gzip.compress(text) if name.lower().endswith("gz") else text, name)
    out = tmp_path / "out"
    report = convert.convert([tmp_path / "results"], out)
    assert len(report.files) == 1 and store.read_pandas(out, "scalars").value.tolist() == [1.0]
    assert convert.convert([tmp_path / "results"], out).files[0].status == "up to date"


def test_a_bad_line_of_a_compressed_file_is_named(tmp_path):
    path = put(tmp_path, gzip.compress((HEAD + "nonsense\n").encode()), "f.sca.gz")
    with pytest.raises(UserError, match=r"f\.sca\.gz:5: expected a record"):
        convert.convert([path], tmp_path / "out")


@pytest.mark.parametrize(
    "content", [b"", b"\x1f\x8b\x08", gzip.compress(b"version 3\n" * 1000, mtime=0)[:-20], b"no gzip"]
)
def test_a_compressed_file_that_is_cut_is_reported(tmp_path, content):
    with pytest.raises(UserError, match=r"f\.sca\.gz"):
        convert.convert([put(tmp_path, content, "f.sca.gz")], tmp_path / "out")


def test_an_empty_file_is_named_and_the_others_are_converted(tmp_path):
    good = put(tmp_path, HEAD + "scalar a b 1\n", "good.sca")
    empty = [put(tmp_path, "", name) for name in ("x.sca", "y.vec")]
    report = convert.convert([good, *empty], tmp_path / "out")
    assert report.notes == [f"{path}: empty, nothing to convert" for path in empty]
    assert report.problem_count == 0 and len(store.read_pandas(tmp_path / "out", "scalars")) == 1


@pytest.mark.parametrize("as_folder", [False, True])
def test_empty_files_alone_are_an_error_that_names_one(tmp_path, as_folder):
    folder = tmp_path / "results"
    empty = [put(folder, "", name) for name in ("x.sca", "y.vec")]
    with pytest.raises(UserError, match=r"no file to convert: .*x\.sca: empty, nothing to convert; and 1 more; name"):
        convert.convert([folder] if as_folder else empty, tmp_path / "out")


def test_skipped_files_are_reported(tmp_path):
    folder = tmp_path / "results"
    put(folder, HEAD + "scalar a b 1\nscalar a c 1.2")
    put(folder, "x", "g.vec.bz2")
    put(folder, "", "killed.sca")
    report = convert.convert([folder], tmp_path / "out")
    reported = "\n".join(report.notes)
    assert "f.sca: its last line has no line end" in reported
    assert "g.vec.bz2" in reported and "killed.sca: empty" in reported and len(report.notes) == 3
    assert report.problem_count == 0 and len(store.read_pandas(tmp_path / "out", "scalars")) == 1


@pytest.mark.parametrize(
    "line", ["\f", "\x0b", "\xa0", " \f \n", "\x1c", "\u2028", "\x85", "\f\xa0", "scalar\xa0a b 1"]
)
def test_a_line_of_unicode_white_space_is_a_bad_line(tmp_path, line):
    text = HEAD + line + "\nscalar a b 1\n"
    with pytest.raises(UserError, match=r"f\.sca:5: expected a record"):
        tables_of(tmp_path, text)
    assert tables_of(tmp_path, text, keep_going=True)["scalars"].value.tolist() == [1.0]


def test_a_byte_order_mark_is_skipped(tmp_path):
    assert len(tables_of(tmp_path, b"\xef\xbb\xbf" + HEAD.encode() + b"scalar a b 1\n")["scalars"]) == 1


def test_bytes_written_as_escapes_are_utf8(tmp_path):
    scalars = tables_of(tmp_path, HEAD + r'scalar "caf\xC3\xA9" "\xE9 \x41\xe2\x82\xacx" 1' + "\n")["scalars"]
    assert (scalars.module[0], scalars.name[0]) == ("café", "é A€x")


def test_columns_may_have_any_order_and_need_time_and_value(tmp_path):
    text = HEAD + "vector 0 m v VTE\n0\t1.5\t2\t7\nvector 1 m w VT\n1\t3\t4\nvector 2 m x ETV\n2\t1\t2\t3\n"
    samples = tables_of(tmp_path, text, "f.vec")["samples"]
    assert samples.value.tolist() == [1.5, 3.0, 3.0]
    assert samples.time_raw.tolist() == [2 * 10**12, 4 * 10**12, 2 * 10**12]
    assert samples.event.fillna(-1).tolist() == [7, -1, 1]
    for columns in ("EV", "V", "TVV", "ETVX"):
        with pytest.raises(UserError, match=r"f\.vec:5: expected columns"):
            tables_of(tmp_path, HEAD + f"vector 0 m v {columns}\n", "f.vec")


@pytest.mark.parametrize("token", ["1" + "0" * 5000, "0." + "1" * 5000, "1e999", "-1e-999", "9" * 19])
def test_an_endless_number_is_no_time(tmp_path, token):
    with pytest.raises(UserError, match=r"f\.vec:6: expected a simulation time"):
        tables_of(tmp_path, HEAD + f"vector 0 m v TV\n0\t{token}\t1\n", "f.vec")


def test_a_time_may_have_endless_zeros(tmp_path):
    samples = tables_of(tmp_path, HEAD + f"vector 0 m v TV\n0\t1.5{'0' * 5000}\t1\n", "f.vec")["samples"]
    assert samples.time_raw.tolist() == [15 * 10**11]


def database(path, changes):
    with sqlite3.connect(path) as connection:
        for name, columns in LAYOUT.items():
            connection.execute(f"CREATE TABLE {name} ({columns.replace(' INTEGER PRIMARY KEY', '')})")
            for row in changes.get(name, ROWS.get(name, [])):
                connection.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)
    connection.close()
    return path


BAD_ROWS = [
    ("scalar", (9, 1, None, "s", 1.0)), ("scalar", (9, 1, "m", None, 1.0)), ("scalar", (9, 1, "m", "s", "text")),
    ("scalar", (9, 1, "m", "s", b"\xff")), ("scalarAttr", (1, None, "s")), ("scalarAttr", (1, "unit", None)),
    ("parameter", (9, 1, "m", "p", None)), ("vector", (None, 1, "m", "v")), ("vector", ("x", 1, "m", "v")),
    ("vector", (9, 1, None, "v")), ("vectorData", (1, "x", 3, 1.0)), ("vectorData", (1, 5, None, 1.0)),
    ("vectorData", (1, 5, "x", 1.0)), ("vectorData", (1, 5, 3, "text")), ("vectorData", (1, 5, 3, b"\x00")),
    ("runAttr", (1, None, "x")), ("runAttr", (1, "a", None)), ("runConfig", (1, None, "2", 7)),
    ("runItervar", (1, "m", None)), ("histogramBin", (1, "x", 1.0)), ("histogramBin", (1, 1.0, "y")),
    ("statistic", (7, 1, None, "h", 1, 0, 3, 2.0, 1.0, 6.0, 14.0, 1.0, 3.0, None, None, None, None)),
    ("statistic", (7, 1, "m", "h", 1, 0, "x", 2.0, 1.0, 6.0, 14.0, 1.0, 3.0, None, None, None, None)),
]  # fmt: skip


@pytest.mark.parametrize(("table", "row"), BAD_ROWS)
def test_a_bad_row_of_a_database_is_reported_and_the_rest_converted(tmp_path, table, row):
    path = database(tmp_path / "r.vec", {table: [*ROWS.get(table, []), row]})
    with pytest.raises(UserError, match=rf"r\.vec: table {table}, row \d+: expected"):
        convert.convert([path], tmp_path / "strict")
    report = convert.convert([path], tmp_path / "out", keep_going=True)
    assert report.problem_count == 1 and f"table {table}" in report.problems[0]
    assert len(store.read_pandas(tmp_path / "out", "scalars")) == 3
    assert len(store.read_pandas(tmp_path / "out", "samples")) == 3


@pytest.mark.parametrize("run", [(1, None, -12), (None, "R", -12), (1, "R", "x"), (1, "R", None), (1, "R", 99)])
def test_a_bad_run_of_a_database_is_reported(tmp_path, run):
    path = database(tmp_path / "r.vec", {"run": [run]})
    with pytest.raises(UserError, match=r"r\.vec: table run, row 1: expected"):
        convert.convert([path], tmp_path / "out")


def test_a_database_that_lacks_a_table_is_reported(tmp_path):
    path = tmp_path / "r.sca"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE run (runId INTEGER, runName TEXT, simtimeExp INTEGER)")
        connection.execute("INSERT INTO run VALUES (1, 'R', -12)")
    connection.close()
    with pytest.raises(UserError, match=r"r\.sca: no such table"):
        convert.convert([path], tmp_path / "out")


def test_a_folder_whose_name_the_table_format_cannot_take_is_refused(tmp_path):
    with pytest.raises(UserError, match="choose another"):
        convert.convert([put(tmp_path, HEAD + "scalar a b 1\n")], tmp_path / "per%41cent")


@pytest.mark.parametrize("name", ["run:1", "sweep[1]", "a b{c}", "x?y*z", "per%zent"])
def test_a_folder_may_have_any_name(tmp_path, monkeypatch, name):
    from causeway.analysis import diff, report

    monkeypatch.chdir(tmp_path)
    convert.convert([put(tmp_path, HEAD + "scalar a b 1\n")], name)
    assert diff.diff(name, name).passed and report.write(name).exists()


@pytest.mark.spark
@pytest.mark.parametrize("name", ["run:1", "sweep[1]", "a b{c}", "x?y*z", "per%zent"])
def test_spark_reads_a_folder_of_any_name(tmp_path, spark, name):
    convert.convert([put(tmp_path, HEAD + "scalar a b 1\n")], tmp_path / name)
    assert read_spark(spark, tmp_path / name, "scalars").count() == 1


@pytest.mark.parametrize("command", ["run hash --out {}", "convert x.sca --out {}", "report {}", "diff {} {}"])
@pytest.mark.parametrize(
    "url",
    [
        "ftp://bucket/x",
        "hdfs://127.0.0.1:1/x",
        pytest.param("s3a://127.0.0.1:1/x?scheme=nothing", marks=pytest.mark.slow),
    ],
)
def test_a_url_that_cannot_be_used_is_refused_and_makes_no_folder(tmp_path, monkeypatch, command, url):
    from typer.testing import CliRunner

    from causeway.cli.main import app

    monkeypatch.chdir(tmp_path)
    put(tmp_path, HEAD, "x.sca")
    result = CliRunner().invoke(app, command.format(url, url).split())
    assert isinstance(result.exception, UserError), result.exception
    assert "results can be in a folder" in str(result.exception) or "cannot be reached" in str(result.exception)
    assert {path.name for path in tmp_path.iterdir()} == {"x.sca"}
