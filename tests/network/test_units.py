"""Units are exact: a value that is not a whole number of picoseconds or millimetres is refused in a sentence."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causeway.errors import UserError
from causeway.network import units


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (units.seconds(1.5), 1_500_000_000_000),
        (units.seconds("0.1"), 10**11),
        (units.seconds(0.1), 10**11),
        (units.seconds("1/8"), 125 * 10**9),
        (units.seconds(1e-12), 1),
        (units.ms(300), 3 * 10**11),
        (units.ms(Fraction(1, 4)), 25 * 10**7),
        (units.us(Decimal("0.3")), 300_000),
        (units.ns(7), 7000),
        (units.seconds(np.float64(1.5)), 15 * 10**11),
        (units.seconds(np.int32(2)), 2 * 10**12),
        (units.metres(180), 180_000),
        (units.metres(-0.001), -1),
        (units.km("1.25"), 1_250_000),
        (units.mm(5), 5),
        (units.metres_per_second(1.4), 1400),
        (units.km_per_hour(36), 10_000),
    ],
)
def test_a_unit_is_exact(found: int, expected: int) -> None:
    assert found == expected and type(found) is int


@given(st.integers(0, 2**63 - 1))
def test_every_number_of_picoseconds_can_be_written_in_each_unit(time_ps: int) -> None:
    assert units.seconds(Fraction(time_ps, 10**12)) == units.ms(Fraction(time_ps, 10**9)) == time_ps
    assert units.seconds(str(Decimal(time_ps).scaleb(-12))) == units.ns(Fraction(time_ps, 1000)) == time_ps


@given(st.integers(0, 999_999))
def test_a_float_counts_as_the_decimal_that_python_prints(thousandths: int) -> None:
    assert units.seconds(thousandths / 1000) == thousandths * 10**9
    assert units.metres(thousandths / 1000) == thousandths


@pytest.mark.parametrize(
    ("call", "refusal"),
    [
        (lambda: units.seconds(1 / 3), "seconds(0.3333333333333333) is not a whole number of picoseconds; write secon"),
        (lambda: units.ns(0.0001), "ns(0.0001) is not a whole number of picoseconds; write ns(round(x, 3))"),
        (lambda: units.mm(0.5), "mm(0.5) is not a whole number of millimetres; write the whole number nearest to it,"),
        (lambda: units.metres(0.0001), "metres(0.0001) is not a whole number of millimetres; write metres(round(x, 3)"),
        (lambda: units.km_per_hour(50), "km_per_hour(50) is not a whole number of millimetres a second; write metres_"),
        (lambda: units.seconds(-1), "seconds(-1) is negative; allowed: 0 to 9,223,372.037"),
        (lambda: units.metres_per_second(-1), "metres_per_second(-1) is negative; allowed: 0 to 2,147,483.647"),
        (lambda: units.seconds(10**9), "seconds(1000000000) is too large; allowed: 0 to"),
        (lambda: units.km(10_000), "km(10000) is too large; allowed: -2,147.483647 to 2,147.483647"),
        (lambda: units.ms(True), "ms was given True; allowed: a number"),
        (lambda: units.ms(math.nan), "ms was given nan; allowed: a number"),
        (lambda: units.ms(math.inf), "ms was given inf; allowed: a number"),
        (lambda: units.ms("soon"), "ms was given 'soon'; allowed: a number"),
        (lambda: units.ms("1/0"), "ms was given '1/0'; allowed: a number"),
        (lambda: units.ms(Decimal("NaN")), "ms was given Decimal('NaN'); allowed: a number"),
        (lambda: units.ms(None), "ms was given None; allowed: a number"),
        (lambda: units.ms(np.bool_(True)), "allowed: a number"),
    ],
)  # fmt: skip
def test_a_value_that_is_no_whole_number_is_refused_with_a_remedy(call: Any, refusal: str) -> None:
    with pytest.raises(UserError) as error:
        call()
    assert refusal in str(error.value) and "\n" not in str(error.value)
