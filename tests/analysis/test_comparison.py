"""Measured beside published numbers."""

import math

import pandas as pd
import pytest

from causeway.analysis.reduce import expression
from causeway.analysis.reduce.comparison import COLUMNS, Runs, compare
from causeway.analysis.reduce.scalars import run_values
from causeway.errors import UserError
from causeway.studies.registry import PUBLISHED
from tests.helpers.published_numbers import load_published

HEAD = "paper,where,quantity,condition,study,parameters,scalar,published,note\n"


def frames():
    """Return two points with two runs each, on two engines, with scalars of the run and of modules."""
    runs, parameters, scalars = [], [], []
    for n in (10, 20):
        for engine, seeds in (("inline", (1, 2)), ("omnet", (1,))):
            for seed in seeds:
                run = f"{n}-{engine}-{seed}"
                runs.append((run, "clocks", engine))
                parameters += [(run, "n", str(n), float(n)), (run, "mode", "fast", None), (run, "on", "true", None)]
                scalars += [
                    (run, "run", "wrong", n * 0.01 * seed),
                    (run, "run", "sent", 100.0),
                    (run, "a", "sent", 7.0),
                ]
                scalars += [(run, "a", "drops", 1.0), (run, "b", "drops", 2.0)]
    return (
        pd.DataFrame(runs, columns=["run_id", "study", "engine"]),
        pd.DataFrame(parameters, columns=["run_id", "name", "value", "number"]),
        pd.DataFrame(scalars, columns=["run_id", "module", "name", "value"]),
    )


def ready() -> Runs:
    runs, parameters, scalars = frames()
    return Runs(runs, parameters, run_values(scalars, ["wrong", "sent", "drops"]))


def published(tmp_path, *lines: str, head: str = HEAD) -> pd.DataFrame:
    (tmp_path / "p.csv").write_text(head + "".join(f"{line}\n" for line in lines))
    return load_published(tmp_path)


ROW = 'p,Fig. 1,wrong rate,N=10,clocks,"{""n"": 10, ""mode"": ""fast"", ""on"": true}",wrong,0.2,read off'


def test_each_engine_gets_a_row_beside_the_published_number(tmp_path):
    found = compare(published(tmp_path, ROW), ready())
    assert tuple(found.columns) == COLUMNS
    first, second = found.to_dict("records")
    assert (first["engine"], first["runs"], second["engine"], second["runs"]) == ("inline", 2, "omnet", 1)
    assert first["measured"] == pytest.approx(0.15) and first["ratio"] == pytest.approx(0.75)
    assert first["ci95_low"] < 0.15 < first["ci95_high"] and math.isnan(second["ci95_low"])


def test_a_run_with_another_parameter_is_excluded(tmp_path):
    for change in (('""n"": 10', '""n"": 11'), ("fast", "slow"), ("true", "false"), ('""on""', '""off""')):
        assert compare(published(tmp_path, ROW.replace(*change)), ready()).empty


def test_a_quantity_may_be_computed_from_scalars_and_parameters(tmp_path):
    found = compare(published(tmp_path, ROW.replace(",wrong,0.2", ",drops/n*sent,0.2")), ready())
    assert found["measured"].tolist() == [30.0, 30.0]


def test_a_runs_own_scalar_wins_over_those_of_its_modules_and_modules_add_up():
    values = run_values(frames()[2], ["sent", "drops"]).set_index(["run_id", "name"])["value"]
    assert values["10-omnet-1", "sent"] == 100.0 and values["10-omnet-1", "drops"] == 3.0


def test_an_unknown_scalar_and_a_division_by_zero_measure_nothing(tmp_path):
    for formula in ("nosuch", "wrong/0", "wrong/(sent-sent)"):
        assert compare(published(tmp_path, ROW.replace(",wrong,0.2", f",{formula},0.2")), ready()).empty


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (ROW.replace("0.2", "about 0.2"), "could not convert"),
        (ROW.replace('"{""n""', '"{n'), "Expecting"),
        (ROW.replace(",wrong,0.2", ",wrong(,0.2"), "arithmetic"),
    ],
)
def test_a_bad_line_of_published_numbers_is_named(tmp_path, line, why):
    with pytest.raises(UserError, match=rf"p\.csv:3: .*{why}"):
        published(tmp_path, ROW, line)


BOUNDS_HEAD = HEAD.replace("published,", "published,relation,low,high,")


@pytest.mark.parametrize(
    ("said", "ratio"),
    [("0.2,about,,", 0.75), (",to,0.1,0.2", 1.0), (",<,,0.1", 1.5), (",>,0.3,", 0.5), (",to,0.3,0.4", 0.5)],
)
def test_a_published_bound_is_compared_by_its_nearest_end(tmp_path, said, ratio):
    found = compare(published(tmp_path, ROW.replace(",0.2,", f",{said},"), head=BOUNDS_HEAD), ready())
    assert found.iloc[0]["measured"] == pytest.approx(0.15)
    assert found.iloc[0]["ratio"] == pytest.approx(ratio)


@pytest.mark.parametrize(
    ("said", "why"),
    [("0.2,<,,", "needs values only in high"), (",to,0.3,0.1", "low is above high"), ("0.2,ca,,", "no relation 'ca'"),
     ("0.2,=,,0.3", "values only in published"), (",,,", "values only in published"),
     ("inf,,,", "not a finite number")],
)  # fmt: skip
def test_a_relation_determines_the_columns_that_must_be_filled(tmp_path, said, why):
    with pytest.raises(UserError, match=rf"p\.csv:2: .*{why}"):
        published(tmp_path, ROW.replace(",0.2,", f",{said},"), head=BOUNDS_HEAD)


@pytest.mark.parametrize(("scalar", "note"), [("cannot_be_compared", "no"), ("wrong", "cannot be compared: it is not")])
def test_only_numbers_that_cannot_be_compared_give_a_reason(tmp_path, scalar, note):
    head, row = BOUNDS_HEAD.strip().split(","), dict.fromkeys(BOUNDS_HEAD.strip().split(","), "")
    row |= {"scalar": scalar, "published": "1", "note": note}
    with pytest.raises(UserError, match=r"p\.csv:2: the note must begin with .*if the scalar is cannot_be_compared"):
        published(tmp_path, ",".join(row[name] for name in head) + "\n", head=BOUNDS_HEAD)


def test_the_published_numbers_that_come_with_the_project_can_be_read():
    numbers = load_published(PUBLISHED)
    assert set(numbers["paper"]) == {"hash", "dcs23", "ladc18", "icpp18", "mobile20"}
    assert all(expression.names(formula) for formula in numbers["scalar"])
    assert all(isinstance(parameters, dict) for parameters in numbers["parameters"])
