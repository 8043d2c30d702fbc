"""Samples out of a database into columns, by SQLite's own C functions; compiled. See `sqlite_native`.

The functions come as addresses, so that the compiled code can be kept.
"""

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from causeway.analysis.convert.native import DONE, FULL, ODD
from causeway.bridge.jit import njit

_ROW = 100  # what sqlite3_step gives
_INTEGER, _FLOAT, _NULL = 1, 2, 5  # what sqlite3_column_type gives


def _called(result, *parameters):
    """Code that calls a C function at an address."""

    def generate(context, builder, signature, arguments):
        kind = ir.FunctionType(result, parameters)
        address, *given = arguments
        return builder.call(builder.inttoptr(address, kind.as_pointer()), given)

    return generate


@intrinsic
def _step(typing, address, statement):
    return types.int32(types.int64, types.int64), _called(ir.IntType(32), ir.IntType(64))


@intrinsic
def _type(typing, address, statement, column):
    signature = types.int32(types.int64, types.int64, types.int32)
    return signature, _called(ir.IntType(32), ir.IntType(64), ir.IntType(32))


@intrinsic
def _whole(typing, address, statement, column):
    signature = types.int64(types.int64, types.int64, types.int32)
    return signature, _called(ir.IntType(64), ir.IntType(64), ir.IntType(32))


@intrinsic
def _real(typing, address, statement, column):
    signature = types.float64(types.int64, types.int64, types.int32)
    return signature, _called(ir.DoubleType(), ir.IntType(64), ir.IntType(32))


@njit()
def fill(functions, statement, at, ids, events, raws, values, last):
    """Rows (vector, event, time, value, rowid) from place `at` on: (place behind, how it ended). `last[0]` is the rowid
    of the last row that was taken. It ends when no row is left (DONE), no room is left, or the next row holds what a
    sample does not (ODD)."""
    step, kind, whole, real = functions
    zero, one, two, three, four = types.int32(0), types.int32(1), types.int32(2), types.int32(3), types.int32(4)
    while at < len(ids):
        if _step(step, statement) != _ROW:  # type: ignore[call-arg]
            return at, DONE
        for column in (zero, one, two):
            if _type(kind, statement, column) != _INTEGER:
                return at, ODD
        found = _type(kind, statement, three)
        if found == _NULL:
            values[at] = float("nan")
        elif found in (_INTEGER, _FLOAT):
            values[at] = _real(real, statement, three)
        else:
            return at, ODD
        ids[at], events[at] = _whole(whole, statement, zero), _whole(whole, statement, one)
        raws[at], last[0] = _whole(whole, statement, two), _whole(whole, statement, four)
        at += 1
    return at, FULL
