"""Parameters of runs: parse `--set K=V`, check values, and name a point. Errors are one line."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any, get_args, get_origin

from pydantic import ValidationError

from causeway.errors import UserError, unknown
from causeway.studies.study import Params, Study


def parse_settings(settings: Iterable[str]) -> dict[str, str]:
    """Parse settings: ['a=1', 'b=x'] becomes {'a': '1', 'b': 'x'}.

    Raises:
        UserError: A setting has no '=', or a name is set twice.
    """
    parsed: dict[str, str] = {}
    for setting in settings:
        name, equals, value = setting.partition("=")
        if not equals or not name.strip():
            raise UserError(f"'{setting}' is not a setting; write --set NAME=VALUE")
        name, value = name.strip(), value.strip()
        if name in parsed:
            raise UserError(f"{name} is set twice, {name}={parsed[name]} and {name}={value}; remove one")
        parsed[name] = value
    return parsed


def make_params(study: Study, given: Mapping[str, Any]) -> Params:
    """Return the parameters of a study: the `given` values, and defaults for the others.

    Raises:
        UserError: A name is unknown or a value is not valid; the message is one line.
    """
    fields = study.Params.model_fields
    for name, value in given.items():
        if name not in fields:
            raise unknown(f"parameter of study {study.name}", name, fields)
        kinds = {fields[name].annotation, *get_args(fields[name].annotation)}
        if isinstance(value, bool) and bool not in kinds and kinds & {int, float}:  # pydantic takes True for 1
            raise UserError(f"bad value '{value}' for parameter {name} of study {study.name}: it must be a number")
    try:
        return study.Params(**given)
    except ValidationError as error:
        raise UserError(_first_problem(study, error)) from None


def _first_problem(study: Study, error: ValidationError) -> str:
    """Return the first problem that pydantic found, as one line."""
    problem = error.errors()[0]
    name = str(problem["loc"][0]) if problem["loc"] else ""
    if not name:
        return f"study {study.name}: {problem['msg'].removeprefix('Value error, ')}"
    choices = get_args(study.Params.model_fields[name].annotation)
    if (
        choices
        and get_origin(study.Params.model_fields[name].annotation) is not None
        and problem["type"] == "literal_error"
    ):
        return str(unknown(f"value of {name}", str(problem["input"]), map(str, choices)))
    reason = problem["msg"][0].lower() + problem["msg"][1:].removeprefix("alue error, ")
    return f"bad value '{problem['input']}' for parameter {name} of study {study.name}: {reason}"


def point_of(study: Study, params: Params, more: Mapping[str, str] | None = None) -> str:
    """Return a short, stable name of a combination of parameters and `more` settings."""
    text = json.dumps([study.name, params.model_dump(mode="json"), *([more] if more else [])], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]
