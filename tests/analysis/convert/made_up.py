"""Random result files, made of pieces of the format and of nonsense, many thousand a second."""

from __future__ import annotations

import random
from collections.abc import Iterator

ODD = [
    b"\f", b"\x0b", b"\xa0", b"\xc2\xa0", b"\xe2\x80\xa8", b"\x85", b"\x1c", b"\0", b"\xef\xbb\xbf", b'"', b'""',
    b'"a', b"\\", b'"\\x', b'"\\xC3\\xA9"', b'"\\"', b'"a\\"b"', b'"\\x41\\n"', b"#",
    b"inf", b"-inf", b"nan", b"-nan", b"1.#IND", b"1e999", b"0x1p9999999999",
    b"-", b"+", b".", b"1" * 400, b"0." + b"9" * 400, b"1" + b"0" * 5000, b"9223372036854775808",
    b"-1", b"\r", b"\xff",
    b"..", b"/", b"%", b"@", b"~", b"\xed\xa0\x80", b"1_0", b"\xd9\xa3",
]  # fmt: skip
NAMES = [b"a", b"b", b"Net.host[0]", b'"a b"', b"x:last", b'""', b"iterationvars", b'"$a=1, $b=2"', b"unit"]
NUMBERS = [
    b"0", b"1", b"-2.5", b"3e-7", b"1.23456789012345", b"nan", b"7", b"12345678901234567890", b"+1", b"1e-320", b"-0",
    b"0.000000000001", b"9223372.5", b"123456789.123456789123",
]  # fmt: skip
PLAIN = [b"0", b"1", b"-2.5", b"3e-7", b"1.23456789012345", b"nan", b"-inf", b"7", b"1e300", b"-0"]
TIMES = [b"0", b"1", b"0.5", b"0.000000000001", b"12.34", b"9223372.5", b"10"]
IDS = [b"0", b"1", b"2", b"9999999999"]
COLUMNS = [b"ETV", b"TV", b"VT", b"VTE", b"EV", b"V", b"TVX", b"7", b""]
KINDS = [b"version", b"run", b"attr", b"itervar", b"config", b"param", b"scalar", b"par", b"statistic", b"field",
         b"bin", b"vector", b"file", b"#", b"scalars", b"Run"]  # fmt: skip
HEADS = [
    b"",
    b"version 3\nrun R\n",
    b"version 3\nrun R\nattr configname C\nitervar n 1\nconfig a.b \"1 s\"\n",
    b"version 2\nrun R\nattr configname C\nattr iterationvars \"$n=1\"\nparam x 1\nvector 0 a v ETV\n",
    b"version 3\nrun R\nvector 0 a v\nattr unit s\nvector 1 b v ETV\n",
    b"version 3\nrun R\nstatistic a s\nfield count 1\n",
]  # fmt: skip
_SHAPES: list[tuple[bytes | None, tuple[list[bytes], ...]]] = [
    (b"version", ([b"2", b"3"],)), (b"run", (NAMES,)), (b"attr", (NAMES, NAMES)), (b"attr", (NAMES, NAMES)),
    (b"itervar", (NAMES, NAMES)), (b"config", (NAMES, NAMES)), (b"param", (NAMES, NAMES)),
    (b"scalar", (NAMES, NAMES, NUMBERS)), (b"scalar", (NAMES, NAMES, NUMBERS)), (b"par", (NAMES, NAMES, NAMES)),
    (b"statistic", (NAMES, NAMES)), (b"field", (NAMES, NUMBERS)), (b"bin", (NUMBERS, NUMBERS)),
    (b"vector", (IDS, NAMES, NAMES, COLUMNS)), (b"vector", (IDS, NAMES, NAMES)),
    (None, (IDS, NUMBERS, NUMBERS)), (None, (IDS, NUMBERS, NUMBERS, NUMBERS)), (None, (IDS, NUMBERS, NUMBERS)),
]  # fmt: skip
_BETWEEN = [b" ", b" ", b" ", b"\t", b"  ", b" \t"]
_ENDS = [b"\n"] * 12 + [b"\r\n", b"", b"\n\n", b" \n"]


def _line(draw: random.Random, oddness: float) -> bytes:
    if draw.random() < 0.05:
        parts = [draw.choice(draw.choice((KINDS, NAMES, NUMBERS))) for _ in range(draw.randrange(6))]
    else:
        kind, columns = draw.choice(_SHAPES)
        parts = [] if kind is None else [kind]
        parts += [draw.choice(column) for column in columns]
    if draw.random() < oddness and parts:
        odd = draw.choice(ODD) if draw.random() < 0.7 else draw.randbytes(draw.randrange(7))
        parts[draw.randrange(len(parts))] = odd
    return draw.choice(_BETWEEN).join(parts) + draw.choice(_ENDS)


def _orderly(draw: random.Random) -> bytes:
    """Return a file in the form that a simulation writes."""
    one = draw.choice
    parts = [b"version 3\nrun R\n"]
    parts += [
        b"%s %s %s\n" % (one((b"attr", b"itervar", b"config")), one(NAMES), one(NAMES))
        for _ in range(draw.randrange(4))
    ]
    free = [b"0", b"1", b"2", b"77", b"123456"]
    declared = []
    for _ in range(draw.randrange(8)):
        kind = draw.randrange(6)
        if kind < 2:
            parts.append(b"scalar %s %s %s\n" % (one(NAMES), one(NAMES), one(PLAIN)))
        elif kind == 2:
            parts.append(b"par %s %s %s\n" % (one(NAMES), one(NAMES), one(NAMES)))
        elif kind == 3:
            parts.append(b"statistic %s %s\n" % (one(NAMES), one(NAMES)))
            parts += [b"field %s %s\n" % (one(NAMES), one(PLAIN)) for _ in range(draw.randrange(3))]
            parts += [b"bin %s %s\n" % (one(PLAIN), one(PLAIN)) for _ in range(draw.randrange(3))]
        elif kind == 4 and free:
            order = one((b"", b" ETV", b" TV"))
            declared.append((free.pop(draw.randrange(len(free))), order == b" ETV"))
            parts.append(b"vector %s %s %s%s\n" % (declared[-1][0], one(NAMES), one(NAMES), order))
        elif declared:
            vector, with_event = one(declared)
            event = b"7\t" if with_event else b""
            parts.append(b"%s\t%s%s\t%s\n" % (vector, event, one(TIMES), one(PLAIN)))
            continue
        parts += [b"attr %s %s\n" % (one(NAMES), one(NAMES)) for _ in range(draw.randrange(3))]
    return b"".join(parts)


def made_up(seed: int) -> Iterator[bytes]:
    """Yield endless files, equal for equal seeds: some plain, some with a few odd tokens, some of random text."""
    draw = random.Random(seed)
    while True:
        if draw.random() < 0.5:
            content = _orderly(draw)
            if draw.random() < 0.3:  # something put in anywhere
                at = draw.randrange(len(content) + 1)
                content = content[:at] + draw.choice((*ODD, *NAMES, b" ", b"\n")) + content[at + draw.randrange(3) :]
            yield content
            continue
        oddness = draw.choice((0.0, 0.0, 0.05, 0.3))
        yield draw.choice(HEADS) + b"".join(_line(draw, oddness) for _ in range(draw.randrange(14)))
