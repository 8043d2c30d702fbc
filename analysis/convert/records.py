"""Read the records of a text result file (all lines but vector data) into rows of the tables.

Start here: `RecordReader`, which has one method for each kind of record.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar

from causeway.analysis import store
from causeway.analysis.convert.lexer import BadLine, integer, number, tokens

Rows = dict[str, list[tuple[Any, ...]]]
_ITERVAR = re.compile(r'"(?:[^"\\]|\\.)*"|(?:^|,)\s*\$(\w+)=')
"""Matches a quoted text, so that its contents are not taken for iteration variables, or the start of such a variable.
"""
_PARTS = ("attr", "field", "bin", "itervar", "config", "param")  # records that belong to the record before them
COLUMNS = {"TV": 2, "ETV": 3} | {order: 4 + i for i, order in enumerate(("VT", "EVT", "TEV", "TVE", "VET", "VTE"))}
"""Maps the order of a vector's columns to its code. The compiled reader knows the codes up to 3, the usual orders."""
_BLANKS = " \t"


@dataclass
class Header:
    """The header of a run in a file: all records before its first result."""

    run_id: str
    attributes: list[list[str]] = field(default_factory=list)
    itervars: list[list[str]] = field(default_factory=list)
    config: list[list[str]] = field(default_factory=list)

    @property
    def attribute_values(self) -> dict[str, str]:
        """The attributes by name."""
        return {name: value for name, value in self.attributes}  # noqa: C416 (mypy wants the pairs named)

    def iteration_variables(self) -> list[list[str]]:
        """Return the iteration variables; files of version 2 list them all in one attribute."""
        attributes = self.attribute_values
        listed = attributes.get("iterationvars", "")
        if self.itervars or not listed:
            return self.itervars
        begins = [match for match in _ITERVAR.finditer(listed) if match[1]]
        ends = [*(match.start() for match in begins[1:]), len(listed)]
        values = [listed[match.end() : end].strip() for match, end in zip(begins, ends, strict=True)]
        return [[match[1], attributes.get(match[1], value)] for match, value in zip(begins, values, strict=True)]

    def take(self, other: "Header") -> list[str]:
        """Add the entries of another header of the same run; return a message for each contradiction.

        The first value stays. Configuration entries may repeat, so all entries of one key are added, or none.
        """
        found = []
        for what, mine, theirs in (
            ("attribute", self.attributes, other.attributes), ("iteration variable", self.itervars, other.itervars),
            ("configuration", self.config, other.config),
        ):  # fmt: skip
            known, more = _by_name(mine), _by_name(theirs)
            for name in more.keys() & known.keys():
                if more[name] != known[name]:
                    found.append(f"run {self.run_id}: {what} {name} is {known[name][0]!r}, elsewhere {more[name][0]!r}")
            mine += [pair for pair in theirs if pair[0] not in known]
        return sorted(found)


def _by_name(pairs: list[list[str]]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value)
    return found


@dataclass
class Section:
    """The part of a file that belongs to one run, with the vectors declared in it: id -> (columns, file offset)."""

    run_id: str
    start: int
    vectors: dict[int, tuple[int, int]] = field(default_factory=dict)


class RecordReader:
    """Reads record lines one by one and collects their rows, table by table, for the current run.

    `put_away(run_id, rows)` is called with the rows of a run when there are `many`, before the next run begins, and at
    the end of the file. An item and its attributes are always in the same call.
    """

    def __init__(self, put_away: Callable[[str, Rows], None], many: int = 200_000) -> None:
        self._put_away, self._many = put_away, many
        self._rows: Rows = {}
        self._row_count = 0
        self.headers: dict[str, Header] = {}
        self.sections: list[Section] = []
        self._header: Header | None = None
        self._in_header = False
        self._owner = ("", "", "", 0)  # kind, module, item, position of the item to which an `attr` line belongs
        self._counts: dict[tuple[str, str], int] = {}
        self._bins = self._fields = 0
        self.contradictions: list[str] = []
        self._lost = False

    def read(self, line: str, offset: int) -> None:
        """Read one line that is not vector data. Raise BadLine if it breaks the format.

        The attributes, fields and bins after a bad line are skipped, too, since they do not belong to the previous
        item.
        """
        if not offset:
            line = line.removeprefix("\ufeff")  # a byte order mark, which some editors add
        kind = line.lstrip(_BLANKS).replace("\t", " ").partition(" ")[0]
        if self._lost and kind in _PARTS:
            return
        try:
            parts = tokens(line)
            if not parts:
                return
            handler = self._HANDLERS.get(parts[0])
            if handler is None:
                raise BadLine(f"a record (run, attr, scalar, vector, ...) instead of '{parts[0][:40]}'")
            handler(self, parts, offset)
            self._lost = self._lost and kind in _PARTS
        except BadLine:
            self._lost = kind not in _PARTS
            raise

    def finish(self) -> None:
        """Put away the remaining rows."""
        self._close_item()
        self._close_header()
        if self._rows and self._header:
            self._put_away(self._header.run_id, self._rows)
        self._rows, self._row_count = {}, 0

    # --- scalars that `scalar_lines` reads, many at once ---

    @property
    def may_take_scalars(self) -> bool:
        """True if a run has begun."""
        return self._header is not None

    @property
    def run_id(self) -> str:
        """The run that is read."""
        return self._header.run_id if self._header else ""

    def count(self, kind: str) -> int:
        """Return the number of items of a kind that the run has so far."""
        return self._counts.get((self.run_id, kind), 0)

    def took_scalars(self, count: int, module: str, name: str) -> None:
        """Count scalars of the run that were read elsewhere; `module` and `name` are those of the last one."""
        self.finish()
        position = self.count("scalar") + count
        self._counts[self.run_id, "scalar"] = position
        self._owner, self._lost = ("scalar", module, name, position - 1), False

    # --- a method for each kind of record ---

    def _add(self, table: str, *row: Any) -> None:
        self._rows.setdefault(table, []).append(row)
        self._row_count += 1

    def _item(self, offset: int, kind: str, module: str, item: str, position: int | None = None) -> None:
        if self._header is None:
            raise BadLine("a 'run' record before any result")
        self._close_item()
        if self._row_count >= self._many:
            self.finish()
        count = self._counts.get((self._header.run_id, kind), 0)
        self._counts[self._header.run_id, kind] = count + 1
        self._owner = (kind, module, item, count if position is None else position)
        self._close_header()

    def _close_item(self) -> None:
        """End the item. A statistic without fields gets a row with an empty field, so that it is kept."""
        kind, module, item, position = self._owner
        if kind == "statistic" and not self._fields:
            self._add("statistics", module, item, "", float("nan"), position)
        self._owner = (kind if kind == "run" else "", "", "", 0)

    def _close_header(self) -> None:
        """End the header, and merge it with an earlier header of the same run in this file."""
        header = self._header
        if header and self._in_header:
            before = self.headers.setdefault(header.run_id, header)
            if before is not header:
                self.contradictions += before.take(header)
        self._in_header = False

    def _version(self, parts: list[str], offset: int) -> None:
        _expect(parts, "version NUMBER", 2)
        if parts[1] not in ("2", "3"):
            raise BadLine(f"file version 2 or 3 instead of '{parts[1]}'")

    def _run(self, parts: list[str], offset: int) -> None:
        _expect(parts, "run ID", 2)
        if store.is_path(parts[1]):
            raise BadLine(f"a run id that is not a path instead of '{parts[1][:40]}'")
        self.finish()
        self._header, self._in_header, self._owner = Header(parts[1]), True, ("run", "", "", 0)
        self.sections.append(Section(parts[1], offset))

    def _attr(self, parts: list[str], offset: int) -> None:
        _expect(parts, "attr NAME VALUE", 3)
        if self._header is None:
            raise BadLine("a 'run' record before any 'attr'")
        if self._in_header:
            self._header.attributes.append(parts[1:])
        else:
            kind, module, item, position = self._owner
            self._add("attributes", kind, module, item, parts[1], parts[2], position)
            if kind == "vector" and parts[1] == "unit":
                vectors = self._rows["vectors"]
                vectors[-1] = (*vectors[-1][:3], parts[2], vectors[-1][4])

    def _itervar(self, parts: list[str], offset: int) -> None:
        _expect(parts, "itervar NAME VALUE", 3)
        self._open_header("itervar").itervars.append(parts[1:])

    def _config(self, parts: list[str], offset: int) -> None:
        _expect(parts, f"{parts[0]} NAME VALUE", 3)
        self._open_header(parts[0]).config.append(parts[1:])

    def _open_header(self, record: str) -> Header:
        if self._header is None or not self._in_header:
            raise BadLine(f"'{record}' only in the header of a run, before its first result")
        return self._header

    def _scalar(self, parts: list[str], offset: int) -> None:
        _expect(parts, "scalar MODULE NAME VALUE", 4)
        value = number(parts[3])
        self._item(offset, "scalar", parts[1], parts[2])
        self._add("scalars", parts[1], parts[2], value, self._owner[3])

    def _par(self, parts: list[str], offset: int) -> None:
        _expect(parts, "par MODULE NAME VALUE", 4)
        self._item(offset, "par", parts[1], parts[2])
        self._add("pars", parts[1], parts[2], parts[3], self._owner[3])

    def _statistic(self, parts: list[str], offset: int) -> None:
        _expect(parts, "statistic MODULE NAME", 3)
        self._item(offset, "statistic", parts[1], parts[2])
        self._bins = self._fields = 0

    def _field(self, parts: list[str], offset: int) -> None:
        _expect(parts, "field NAME NUMBER", 3)
        module, item, position = self._open_statistic("field")
        self._add("statistics", module, item, parts[1], number(parts[2]), position)
        self._fields += 1

    def _bin(self, parts: list[str], offset: int) -> None:
        _expect(parts, "bin LOWER-EDGE VALUE", 3)
        module, item, position = self._open_statistic("bin")
        self._add("bins", module, item, self._bins, number(parts[1]), number(parts[2]), position)
        self._bins += 1

    def _open_statistic(self, record: str) -> tuple[str, str, int]:
        kind, module, item, position = self._owner
        if kind != "statistic":
            raise BadLine(f"'{record}' only below a 'statistic' record")
        return module, item, position

    def _vector(self, parts: list[str], offset: int) -> None:
        _expect(parts, "vector ID MODULE NAME [COLUMNS]", 4, 5)
        vector_id = integer(parts[1], "a vector id")
        columns = parts[4] if len(parts) == 5 and not parts[4][:1].isdigit() else "TV"
        if columns not in COLUMNS:
            raise BadLine(f"columns ETV or TV (time and value are needed) instead of '{columns[:20]}'")
        if vector_id < 0:
            raise BadLine(f"a vector id from 0 instead of {vector_id}")
        if self.sections and vector_id in self.sections[-1].vectors:
            raise BadLine(f"a vector id that is not taken instead of {vector_id}")
        self._item(offset, "vector", parts[2], parts[3], position=vector_id)
        self.sections[-1].vectors[vector_id] = (COLUMNS[columns], offset)
        self._add("vectors", vector_id, parts[2], parts[3], "", columns)

    # These are functions, since bound methods would form a cycle, which keeps all rows while garbage collection is off.
    _HANDLERS: ClassVar = {
        "version": _version, "run": _run, "attr": _attr, "itervar": _itervar, "config": _config, "param": _config,
        "scalar": _scalar, "par": _par, "statistic": _statistic, "field": _field, "bin": _bin, "vector": _vector,
    }  # fmt: skip


def _expect(parts: list[str], form: str, *lengths: int) -> None:
    if len(parts) not in lengths:
        raise BadLine(f"'{form}'")
