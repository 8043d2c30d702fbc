"""Tokens and numbers of OMNeT++'s text result files.

Everything here is the slow, complete reader of one line. Vector data lines of the usual shape never come here:
`kernel.py` reads those, and hands over the odd ones.
"""

import re
from decimal import Decimal, InvalidOperation

_QUOTED = re.compile(r'[ \t]*(?:"((?:[^"\\]|\\.)*)"|([^ \t"][^ \t]*))', re.DOTALL)
_ESCAPE = re.compile(r"((?:\\x[89A-Fa-f][0-9A-Fa-f])+)|\\(x[0-9A-Fa-f]{1,2}|.)", re.DOTALL)
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_TIME = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
_HEXADECIMAL = re.compile(r"[+-]?0[xX]([0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)([pP][+-]?\d+)?", re.ASCII)
_NOT_A_NUMBER = re.compile(r"([+-]?)nan(\(\w*\))?|[+-]?1\.#(IND|QNAN|SNAN)\d*", re.IGNORECASE | re.ASCII)
_INFINITE = re.compile(r"([+-]?)(inf|infinity|1\.#INF\d*)", re.IGNORECASE | re.ASCII)

PICOSECOND = -12
_INT64 = 1 << 63
_BLANK = ("", " ", "\t")
_MOST_DIGITS = 19  # of a 64-bit integer


class BadLine(ValueError):
    """A line that is not as the format says; the message says what was expected."""


def text(raw: bytes | bytearray) -> str:
    """A line as text. Files are UTF-8; a line that is not is read byte for byte (Latin-1), so that nothing is lost."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def tokens(line: str) -> list[str]:
    """The tokens of a line without its line end; a comment line has none."""
    if '"' not in line:
        parts = (line.replace("\t", " ") if "\t" in line else line).split(" ")
        if "" in parts:
            parts = [part for part in parts if part]
        return [] if parts and parts[0].startswith("#") else parts
    if line.lstrip(" \t").startswith("#"):
        return []
    return _quoted_tokens(line)


def _plainly_quoted(line: str) -> list[str] | None:
    """The tokens of a line without escapes, in which quotes stand only around whole tokens; None for any other."""
    pieces = line.split('"')
    last = len(pieces) - 1
    if last % 2:
        return None
    found = []
    for number, piece in enumerate(pieces):
        if number % 2:
            found.append(piece)
        elif (number and piece[:1] not in _BLANK) or (number < last and piece[-1:] not in _BLANK):
            return None
        elif piece:
            found += [part for part in piece.replace("\t", " ").split(" ") if part]
        elif 0 < number < last:
            return None
    return found


def _quoted_tokens(line: str) -> list[str]:
    if "\\" not in line and (found := _plainly_quoted(line)) is not None:
        return found
    line = line.rstrip(" \t") if not line.rstrip(" \t").endswith("\\") else line
    found, position = [], 0
    while position < len(line):
        match = _QUOTED.match(line, position)
        if match is None:
            if not line[position:].strip(" \t"):
                break
            raise BadLine('a closing quote (")')
        quoted, plain = match.groups()
        found.append(plain if quoted is None else unescape(quoted))
        position = match.end()
    return found


def unescape(quoted: str) -> str:
    """What stands between quotes, with its escapes resolved."""
    if "\\" not in quoted:
        return quoted
    return _ESCAPE.sub(_resolve, quoted)


def _resolve(match: re.Match[str]) -> str:
    if match[1]:  # bytes beyond ASCII: a character of UTF-8 is written as several
        return text(bytes.fromhex(match[1].replace("\\x", "")))
    code = match[2]
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    return _ESCAPES.get(code, code)


def _short(token: str) -> str:
    return token if len(token) <= 60 else f"{token[:57]}..."


def number(token: str) -> float:
    """A double as C's strtod reads it, and the spellings of infinity and not-a-number that other compilers write."""
    if _DECIMAL.fullmatch(token):
        return float(token)
    if match := _INFINITE.fullmatch(token):
        return float(match[1] + "inf")
    if match := _NOT_A_NUMBER.fullmatch(token):
        return float((match[1] or "") + "nan")
    if _HEXADECIMAL.fullmatch(token):
        return _hexadecimal(token)
    raise BadLine(f"a number instead of '{_short(token)}'")


def _hexadecimal(token: str) -> float:
    try:
        return float.fromhex(token)
    except OverflowError:
        return float("-inf") if token.startswith("-") else float("inf")


def integer(token: str, what: str) -> int:
    """A decimal integer that fits in 64 bits."""
    if not re.fullmatch(r"[+-]?\d{1,19}", token, re.ASCII) or not -_INT64 <= int(token) < _INT64:
        raise BadLine(f"{what} (an integer) instead of '{_short(token)}'")
    return int(token)


def exact_time(token: str) -> tuple[int, int]:
    """A simulation time as (integer, power of ten), exact.

    The power is -12 where 64 bits hold the time in picoseconds, so that nearly all times of a table share one unit;
    else it is the one that leaves the integer no trailing zero.
    """
    try:
        if not _TIME.fullmatch(token):
            raise InvalidOperation
        sign, digits, exponent = Decimal(token).as_tuple()
    except InvalidOperation:
        raise BadLine(f"a simulation time in seconds instead of '{_short(token)}'") from None
    assert isinstance(exponent, int)
    whole = "".join(map(str, digits)).lstrip("0")
    kept = whole.rstrip("0")
    if len(kept) > _MOST_DIGITS:
        raise BadLine(f"a simulation time of at most 64 bits instead of '{_short(token)}'")
    raw, exponent = int(kept or "0"), (exponent + len(whole) - len(kept) if kept else PICOSECOND)
    if exponent >= PICOSECOND and raw * 10 ** (exponent - PICOSECOND) < _INT64:
        raw, exponent = raw * 10 ** (exponent - PICOSECOND), PICOSECOND
    if raw >= _INT64 or not -128 <= exponent <= 127:
        raise BadLine(f"a simulation time of at most 64 bits instead of '{_short(token)}'")
    return (-raw if sign else raw), exponent
