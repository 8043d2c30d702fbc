"""Read tokens and numbers of OMNeT++'s text result files, line by line.

These functions read every form that the format allows. Faster modules read lines of the usual form (`kernel` reads
vector data, `scalar_lines` scalars) and leave all other lines to this one.
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
_MOST_DIGITS = 19  # the maximum of a 64-bit integer


class BadLine(ValueError):
    """A line that breaks the format. The message describes the expected form."""


def text(raw: bytes | bytearray) -> str:
    """Decode a line as UTF-8. If it is not valid UTF-8, decode it as Latin-1, which keeps every byte."""
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def tokens(line: str) -> list[str]:
    """Return the tokens of a line without its line end. A comment has no tokens."""
    if '"' not in line:
        parts = (line.replace("\t", " ") if "\t" in line else line).split(" ")
        if "" in parts:
            parts = [part for part in parts if part]
        return [] if parts and parts[0].startswith("#") else parts
    if line.lstrip(" \t").startswith("#"):
        return []
    return _quoted_tokens(line)


def _plainly_quoted(line: str) -> list[str] | None:
    """Return the tokens of a line without escapes; None if there is a quotation mark inside a token."""
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
    """Resolve the escapes in a quoted text."""
    if "\\" not in quoted:
        return quoted
    return _ESCAPE.sub(_resolve, quoted)


def _resolve(match: re.Match[str]) -> str:
    if match[1]:  # escaped bytes beyond ASCII, several of which form one character of UTF-8
        return text(bytes.fromhex(match[1].replace("\\x", "")))
    code = match[2]
    if code[0] == "x" and len(code) > 1:
        return chr(int(code[1:], 16))
    return _ESCAPES.get(code, code)


def _short(token: str) -> str:
    return token if len(token) <= 60 else f"{token[:57]}..."


def number(token: str) -> float:
    """Read a double as C's strtod does.

    Also read the spellings of infinity and not-a-number that other compilers write.
    """
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
    """Read a decimal integer that fits in 64 bits; `what` names it in the error."""
    if not re.fullmatch(r"[+-]?\d{1,19}", token, re.ASCII) or not -_INT64 <= int(token) < _INT64:
        raise BadLine(f"{what} (an integer) instead of '{_short(token)}'")
    return int(token)


def exact_time(token: str) -> tuple[int, int]:
    """Read a simulation time exactly, as (integer, power of ten).

    The power is -12 if 64 bits hold the time in picoseconds, so that nearly all times of a table share one unit.
    Otherwise it is the largest power for which the integer is whole.
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
