"""Arrow arrays without pandas: the same as pyarrow's own."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from causeway.analysis.arrow_arrays import array

texts = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(texts))
def test_strings_are_pyarrows(values):
    assert array(values, pa.string()).equals(pa.array(values, pa.string()))


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)))
def test_integers_are_pyarrows(values):
    assert array(values, pa.int64()).equals(pa.array(values, pa.int64()))


@given(st.lists(st.none() | st.floats(allow_nan=False) | st.integers(-1000, 1000)))
def test_doubles_are_pyarrows(values):
    assert array(values, pa.float64()).equals(pa.array(values, pa.float64()))


@pytest.mark.parametrize(
    "values", [np.array([1, 2], np.int64), np.array([1, 2], np.int32), range(3), (1, 2), np.array([3, 2, 1])[::-1]]
)
def test_other_containers_are_pyarrows(values):
    assert array(values, pa.int64()).equals(pa.array(values).cast(pa.int64()))


@pytest.mark.parametrize(("values", "kind"), [([1.5], pa.int64()), ([300], pa.int8()), ([2**63], pa.int64())])
def test_values_that_do_not_fit_are_refused(values, kind):
    with pytest.raises((pa.ArrowInvalid, pa.ArrowTypeError, OverflowError)):
        array(values, kind)


def test_converting_a_file_does_not_load_pandas(tmp_path):
    (tmp_path / "r.vec").write_text("version 3\nrun R\nitervar n 1\n\nvector 0 a b ETV\nattr unit s\n0\t1\t1\t1\n")
    code = (
        "import sys; from causeway.analysis.convert import convert; convert(sys.argv[1:2], sys.argv[2]); "
        "sys.exit('pandas' in sys.modules)"
    )
    command = [sys.executable, "-c", code, str(tmp_path / "r.vec"), str(tmp_path / "out")]
    assert subprocess.run(command, cwd=Path(__file__).parents[2]).returncode == 0
