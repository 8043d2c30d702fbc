"""Results in SQLite: a small database as OMNeT++ lays it out, into the same tables."""

import math
import sqlite3

import pytest

from causeway.analysis import convert, store
from causeway.errors import UserError

LAYOUT = {
    "run": "runId INTEGER PRIMARY KEY, runName TEXT, simtimeExp INTEGER",
    "runAttr": "runId INTEGER, attrName TEXT, attrValue TEXT",
    "runItervar": "runId INTEGER, itervarName TEXT, itervarValue TEXT",
    "runConfig": "runId INTEGER, configKey TEXT, configValue TEXT, configOrder INTEGER",
    "scalar": "scalarId INTEGER PRIMARY KEY, runId INTEGER, moduleName TEXT, scalarName TEXT, scalarValue REAL",
    "scalarAttr": "scalarId INTEGER, attrName TEXT, attrValue TEXT",
    "parameter": "paramId INTEGER PRIMARY KEY, runId INTEGER, moduleName TEXT, paramName TEXT, paramValue TEXT",
    "paramAttr": "paramId INTEGER, attrName TEXT, attrValue TEXT",
    "statistic": "statId INTEGER PRIMARY KEY, runId INTEGER, moduleName TEXT, statName TEXT, isHistogram INTEGER, "
    "isWeighted INTEGER, statCount INTEGER, statMean REAL, statStddev REAL, statSum REAL, statSqrsum REAL, "
    "statMin REAL, statMax REAL, statWeights REAL, statWeightedSum REAL, statSqrSumWeights REAL, "
    "statWeightedSqrSum REAL",
    "statisticAttr": "statId INTEGER, attrName TEXT, attrValue TEXT",
    "histogramBin": "statId INTEGER, lowerEdge REAL, binValue REAL",
    "vector": "vectorId INTEGER PRIMARY KEY, runId INTEGER, moduleName TEXT, vectorName TEXT",
    "vectorAttr": "vectorId INTEGER, attrName TEXT, attrValue TEXT",
    "vectorData": "vectorId INTEGER, eventNumber INTEGER, simtimeRaw INTEGER, value REAL",
}
ROWS = {
    "run": [(1, "R-1", -12), (2, "R-2", -9)],
    "runAttr": [(1, "configname", "Base"), (2, "configname", "Other")],
    "runItervar": [(1, "n", "10")],
    "runConfig": [(1, "**.b", "2", 1), (1, "**.a", "1", 0)],
    "scalar": [(1, 1, "m", "s", 1.5), (2, 1, "m", "s", None), (3, 2, "m", "s", math.inf)],
    "scalarAttr": [(2, "unit", "s")],
    "parameter": [(1, 1, "m", "p", '"x"')],
    "statistic": [
        (1, 1, "m", "h", 1, 0, 3, 2.0, 1.0, 6.0, 14.0, 1.0, 3.0, None, None, None, None),
        (2, 1, "m", "w", 0, 1, 0, None, None, None, None, None, None, 0.0, 0.0, 0.0, 0.0),
    ],
    "histogramBin": [(1, -math.inf, 0.0), (1, 1.0, 2.0), (1, 3.0, 1.0)],
    "vector": [(1, 1, "m", "v"), (2, 2, "m", "v"), (3, 1, "m", "empty")],
    "vectorAttr": [(1, "unit", "s"), (1, "title", "t")],
    "vectorData": [(1, 5, 10**12, 0.1), (2, 6, 10**9, 2.0), (1, 7, 2 * 10**12, None)],
}  # fmt: skip


@pytest.fixture
def database(tmp_path):
    path = tmp_path / "r.vec"
    with sqlite3.connect(path) as connection:
        for name, columns in LAYOUT.items():
            connection.execute(f"CREATE TABLE {name} ({columns})")
            for row in ROWS.get(name, []):
                connection.execute(f"INSERT INTO {name} VALUES ({', '.join('?' * len(row))})", row)
    connection.close()
    return path


def rows(frame, *columns) -> list[tuple]:
    return sorted(frame[list(columns)].itertuples(index=False, name=None))


def test_every_table_of_the_database_is_converted(database):
    tables = convert.pandas_tables([database])
    assert rows(tables["runs"], "run_id", "study") == [("R-1", "Base"), ("R-2", "Other")]
    assert rows(tables["parameters"], "run_id", "name", "number") == [("R-1", "n", 10.0)]
    assert rows(tables["config"], "position", "name", "value") == [(0, "**.a", "1"), (1, "**.b", "2")]
    assert rows(tables["pars"], "name", "value") == [("p", '"x"')]
    scalars = tables["scalars"]
    assert scalars.value[0] == 1.5 and math.isnan(scalars.value[1]) and scalars.value[2] == math.inf
    fields = tables["statistics"].set_index(["name", "field"])["value"]
    assert fields["h", "sum"] == 6.0 and fields["w", "weights"] == 0.0 and math.isnan(fields["w", "mean"])
    assert ("h", "weights") not in fields.index and ("w", "sum") not in fields.index
    assert rows(tables["bins"], "position", "edge", "value") == [(0, -math.inf, 0.0), (1, 1.0, 2.0), (2, 3.0, 1.0)]
    assert rows(tables["vectors"], "run_id", "vector_id", "name", "unit") == [
        ("R-1", 1, "v", "s"), ("R-1", 3, "empty", ""), ("R-2", 2, "v", ""),
    ]  # fmt: skip
    own = tables["attributes"][tables["attributes"].owner != "run"]
    assert rows(own, "owner", "name", "position") == [
        ("scalar", "unit", 1),
        ("vector", "title", 1),
        ("vector", "unit", 1),
    ]


def test_times_have_the_exponent_of_their_run_and_null_is_not_a_number(database):
    samples = convert.pandas_tables([database])["samples"].sort_values("event", ignore_index=True)
    assert rows(samples, "run_id", "event", "time_raw", "time_exp") == [
        ("R-1", 5, 10**12, -12), ("R-1", 7, 2 * 10**12, -12), ("R-2", 6, 10**9, -9),
    ]  # fmt: skip
    assert samples.value.tolist()[:2] == [0.1, 2.0] and math.isnan(samples.value[2])


def test_a_database_that_grew_is_continued(database, tmp_path):
    out = tmp_path / "out"
    convert.convert([database], out)
    with sqlite3.connect(database) as connection:
        connection.execute("INSERT INTO vectorData VALUES (1, 9, 3000000000000, 7.0)")
    connection.close()
    report = convert.convert([database], out)
    assert (report.files[0].status, report.rows) == ("continued", 1)
    assert sorted(store.read_pandas(out, "samples").event.tolist()) == [5, 6, 7, 9]
    assert convert.convert([database], out).files[0].status == "up to date"


def test_a_database_of_something_else_is_refused(tmp_path):
    path = tmp_path / "x.sca"
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE t (a)")
    connection.close()
    with pytest.raises(UserError, match=r"x\.sca: no such table: run"):
        convert.convert([path], tmp_path / "out")


@pytest.mark.parametrize(
    "endless",
    [
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT 0, i, i, 1.0 FROM n",
        "SELECT a.vectorId, 0, 0, 1.0 FROM kept a, kept b, kept c",
    ],
)
def test_a_view_in_place_of_a_table_is_refused(database, tmp_path, endless):
    with sqlite3.connect(database) as connection:
        connection.execute("ALTER TABLE vectorData RENAME TO kept")
        connection.execute(f"CREATE VIEW vectorData AS {endless}")
    connection.close()
    with pytest.raises(UserError, match="vectorData is not a plain table"):
        convert.convert([database], tmp_path / "out")


def test_a_database_that_changed_in_its_middle_and_grew_is_converted_again(database, tmp_path):
    path = tmp_path / "grows.vec"
    path.write_bytes(database.read_bytes())
    convert.convert([path], tmp_path / "out")
    with sqlite3.connect(path) as connection:
        (first,) = connection.execute("SELECT MIN(rowid) FROM vectorData").fetchone()
        connection.execute("UPDATE vectorData SET value = 77 WHERE rowid = ?", (first,))
        connection.execute("INSERT INTO vectorData SELECT * FROM vectorData WHERE rowid = ?", (first,))
    connection.close()
    assert convert.convert([path], tmp_path / "out").files[0].status == "converted"
    assert (store.read_pandas(tmp_path / "out", "samples").value == 77).sum() == 2
