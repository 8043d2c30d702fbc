"""An option or parameter with two values is refused, instead of taking the last value."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from causeway.cli.main import app
from causeway.errors import UserError
from causeway.studies.parameters import parse_settings


def test_a_parameter_that_is_set_twice_is_refused() -> None:
    with pytest.raises(UserError, match=r"n is set twice, n=4 and n=5"):
        parse_settings(["n=4", "other=1", "n =5"])
    assert parse_settings(["n=4", "m=4"]) == {"n": "4", "m": "4"}


@pytest.mark.parametrize("option", ["--seed", "--reps", "--out", "--engine", "--sweep"])
def test_an_option_with_one_value_is_refused_if_it_is_repeated(option: str) -> None:
    said = CliRunner().invoke(app, ["run", "nothing", option, "1", option, "2"], env={"COLUMNS": "200"})
    assert said.exit_code == 2
    assert option in said.output and "twice" in said.output


def test_options_that_may_be_repeated_and_flags_are_taken() -> None:
    given = ["run", "nothing", "--json", "--json", "--set", "a=1", "--set", "b=1", "--seed", "2"]
    said = CliRunner().invoke(app, given)
    assert "twice" not in said.output and isinstance(said.exception, UserError)
