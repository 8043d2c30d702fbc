"""All lines of many small files at once, from bytes into columns; compiled. See `bulk`.

A file is read here if every line of it is plain. At the first one that is not (an odd number, a byte beyond ASCII, a
record in the wrong place, a second run) the file is given up, what it gave is taken back, and the complete reader in
`records.py` gets it: what a line means is decided there, and this does the same for the lines that simulations write.
"""

import numpy as np

import causeway.analysis.convert.kernel as kernel
from causeway.analysis.convert.native import (
    BIN,
    CONFIG,
    DONE,
    FIELD,
    FULL,
    ITERVAR,
    OF_ITEM,
    PAR,
    RUN_ATTR,
    SCALAR,
    VECTOR,
)  # fmt: skip
from causeway.bridge.jit import njit

_LF, _CR, _QUOTE, _BACKSLASH, _HASH = 10, 13, 34, 92, 35
SOUND, STRANGE, TOO_MUCH = 0, 1, 2
_U = np.uint64
_MIX = _U(0x9E3779B97F4A7C15)
_29 = _U(29)
_MASKS = np.array([(1 << 8 * n) - 1 for n in range(8)] + [2**64 - 1], np.uint64)
_EACH = 0x0101010101010101
_SPACES, _ABOVE_SPACES = _U(32 * _EACH), _U(33 * _EACH)
_QUOTES, _BACKSLASHES, _DELETES = _U(_QUOTE * _EACH), _U(_BACKSLASH * _EACH), _U(127 * _EACH)
_MOST_TOKENS = 5
_ROWS_A_LINE = 2  # a line may end a statistic without fields, which then gets its row
_PLACE, _LENGTH, _QUOTED = 0, 1, 2  # of a token; quoted is 0 (plain), 1, or 2 (with escapes)
_OF_SCALAR, _OF_PAR, _OF_STATISTIC, _OF_VECTOR = 0, 1, 2, 3

# where in `state` it stands how far a file is
_TEXTS, _ROW, _RUN_CODE, _HAS_DATA, _IN_HEADER, _OWNER, _MODULE, _ITEM, _POSITION = 0, 1, 2, 3, 4, 5, 6, 7, 8
_FIELDS, _BINS, _VECTOR_ROW, _VECTORS, _COUNTS = 9, 10, 11, 12, 13  # counts: one for each kind of owner


def _word(text):
    return _U(int.from_bytes(text, "little"))


_ATTR, _CONFIG, _PARAM, _ITERVAR = _word(b"attr"), _word(b"config"), _word(b"param"), _word(b"itervar")
_RUN, _VERSION, _SCALAR, _PAR = _word(b"run"), _word(b"version"), _word(b"scalar"), _word(b"par")
_FIELD, _BIN, _VECTOR, _STATISTI = _word(b"field"), _word(b"bin"), _word(b"vector"), _word(b"statisti")
_UNIT, _TV, _ETV = _word(b"unit"), _word(b"TV"), _word(b"ETV")


@njit(inline="always")
def _is(words, token, number, word, its_length):
    return token[_LENGTH, number] == its_length and words[token[_PLACE, number]] & _MASKS[its_length] == word


@njit(inline="always")
def _marks(word, bytes_):
    """Lowest bit set: the first of a word's eight bytes that is this one."""
    others = word ^ bytes_
    return (others - kernel._LOW_BITS) & ~others


@njit(inline="always")
def _run(words, at, below, mark, last):
    """The first position from `at` on with a byte below `below`, or `mark`, or `last`, or beyond 127."""
    while True:
        word = words[at]
        found = word | ((word - below) & ~word) | _marks(word, mark) | _marks(word, last)
        found = (found | _marks(word, _DELETES)) & kernel._HIGH_BITS
        if found:
            return at + np.int64(kernel._trailing_zeros(found) >> _U(3))
        at += 8


@njit(inline="always")
def _quoted(data, words, at):
    """(position of the closing quote or -1, whether there are escapes) of what begins at `at`, behind a quote."""
    escapes = False
    while True:
        at = _run(words, at, _SPACES, _QUOTES, _BACKSLASHES)
        if data[at] == _QUOTE:
            return at, escapes
        if data[at] != _BACKSLASH or data[at + 1] < 32 or data[at + 1] >= 127:
            return -1, escapes
        escapes = True
        at += 2


@njit()
def _tokens(data, words, at, token):
    """(how many tokens the line at `at` has or -1, position behind its line end)."""
    count = 0
    while True:
        at = kernel._skip_blanks(data, at)
        byte = data[at]
        if byte == _LF:
            return count, at + 1
        if byte == _CR and data[at + 1] == _LF:
            return count, at + 2
        if count == _MOST_TOKENS:
            return -1, at
        start, kind = at, 0
        if byte == _QUOTE:
            start = at + 1
            at, escapes = _quoted(data, words, start)
            if at < 0 or data[at + 1] > 32:
                return -1, at
            kind = 2 if escapes else 1
        else:
            at = _run(words, at, _ABOVE_SPACES, _QUOTES, _QUOTES)
            if data[at] > 32 or at == start:
                return -1, at
        token[_PLACE, count], token[_LENGTH, count], token[_QUOTED, count] = start, at - start, kind
        at += kind > 0
        count += 1


@njit(inline="always")
def _hashed(words, place, length, escapes):
    found = _U(length) * _MIX + _U(escapes)
    while length > 8:
        found = (found ^ words[place]) * _MIX
        found ^= found >> _29
        place += 8
        length -= 8
    found = (found ^ (words[place] & _MASKS[length])) * _MIX
    return found ^ (found >> _29)


@njit(inline="always")
def _same(words, one, other, length):
    while length > 8:
        if words[one] != words[other]:
            return False
        one += 8
        other += 8
        length -= 8
    return (words[one] ^ words[other]) & _MASKS[length] == 0


@njit()
def _code(buffer, number, texts, scratch):
    """The number of a token's text among those seen so far. `known` has place, length and whether there are escapes."""
    words, (slots, known, hashes), (token, state) = buffer[1], texts, scratch
    place, length, escapes = token[_PLACE, number], token[_LENGTH, number], np.int64(token[_QUOTED, number] == 2)
    mask = len(slots) - 1
    its_hash = _hashed(words, place, length, escapes)
    slot = np.int64(its_hash) & mask
    while slots[slot] >= 0:
        code = slots[slot]
        alike = hashes[code] == its_hash and known[1, code] == length and known[2, code] == escapes
        if alike and _same(words, known[0, code], place, length):
            return code
        slot = (slot + 1) & mask
    code = state[_TEXTS]
    slots[slot], hashes[code] = code, its_hash
    known[0, code], known[1, code], known[2, code] = place, length, escapes
    state[_TEXTS] += 1
    return code


@njit()
def _number(buffer, token, number):
    """(value, whether the token is a plain number)."""
    data, words = buffer
    if token[_QUOTED, number]:
        return 0.0, False
    value, behind = kernel._value(data, words, token[_PLACE, number])
    return value, behind == token[_PLACE, number] + token[_LENGTH, number]


@njit(inline="always")
def _declare(vectors, state, vector_id, columns, offset):
    """Whether the vector could be added to the table: its id is new, and there is room."""
    declared, used = vectors
    mask = declared.shape[1] - 1
    slot = vector_id & mask
    while declared[0, slot] >= 0:
        if declared[0, slot] == vector_id:
            return False
        slot = (slot + 1) & mask
    if 2 * state[_VECTORS] >= mask:
        return False
    declared[0, slot], declared[1, slot], declared[2, slot] = vector_id, columns, offset
    used[state[_VECTORS]] = slot
    state[_VECTORS] += 1
    return True


@njit()
def _put(out, state, kind, third, fourth, value, other):
    """One row of what was read, for the module, item and position that the state has."""
    kinds, codes, numbers, positions = out
    row = state[_ROW]
    kinds[row], codes[0, row], codes[1, row], codes[2, row] = kind, state[_MODULE], state[_ITEM], third
    codes[3, row], numbers[0, row], numbers[1, row], positions[row] = fourth, value, other, state[_POSITION]
    state[_ROW] = row + 1


@njit()
def _close_item(out, state):
    """A statistic without a single field is there all the same."""
    if state[_OWNER] == _OF_STATISTIC and state[_FIELDS] == 0:
        _put(out, state, FIELD, 0, 0, np.nan, 0.0)


@njit()
def _item(buffer, parts, offset, texts, vectors, scratch, out):
    """A scalar, par, statistic or vector: whether it is plain."""
    (data, words), (token, state) = buffer, scratch
    word, first, wanted, owner = words[token[_PLACE, 0]], 1, 4, -1
    length = token[_LENGTH, 0]
    if length < 8:
        word &= _MASKS[length]
    if word == _SCALAR:
        owner = _OF_SCALAR
    elif word == _PAR:
        owner = _OF_PAR
    elif word == _VECTOR:
        owner, first = _OF_VECTOR, 2
    elif length == 9 and word == _STATISTI and data[token[_PLACE, 0] + 8] == 99:
        owner, wanted = _OF_STATISTIC, 3
    if owner < 0 or state[_RUN_CODE] < 0 or (parts != wanted and not (owner == _OF_VECTOR and parts == 5)):
        return False
    _close_item(out, state)
    value, good, position, columns = 0.0, True, state[_COUNTS + owner], 2
    if owner == _OF_SCALAR:
        value, good = _number(buffer, token, 3)
    elif owner == _OF_VECTOR:
        place, length = token[_PLACE, 1], token[_LENGTH, 1]
        position, behind = kernel._digits(words, place)
        columns = 3 if parts == 5 and _is(words, token, 4, _ETV, 3) else 2
        good = not token[_QUOTED, 1] and behind == place + length and length <= 18
        good = good and (parts == 4 or columns == 3 or _is(words, token, 4, _TV, 2))
        good = good and _declare(vectors, state, position, columns, offset)
        state[_VECTOR_ROW] = state[_ROW]
    if not good:
        return False
    state[_COUNTS + owner] += 1
    state[_OWNER], state[_IN_HEADER], state[_POSITION], state[_FIELDS], state[_BINS] = owner, 0, position, 0, 0
    state[_MODULE] = _code(buffer, first, texts, scratch)
    state[_ITEM] = _code(buffer, first + 1, texts, scratch)
    if owner == _OF_SCALAR:
        _put(out, state, SCALAR, 0, 0, value, 0.0)
    elif owner == _OF_PAR:
        _put(out, state, PAR, 0, _code(buffer, 3, texts, scratch), 0.0, 0.0)
    elif owner == _OF_VECTOR:
        _put(out, state, VECTOR, 0, columns, 0.0, 0.0)
    return True


@njit()
def _part(buffer, word, texts, scratch, out):
    """A line of three tokens that belongs to the run or item before: whether it is plain."""
    words, (token, state) = buffer[1], scratch
    if state[_RUN_CODE] < 0:
        return False
    header, owner = state[_IN_HEADER] > 0, state[_OWNER]
    if word in (_FIELD, _BIN):
        if header or owner != _OF_STATISTIC:
            return False
        value, good = _number(buffer, token, 2)
        if not good:
            return False
        if word == _FIELD:
            _put(out, state, FIELD, _code(buffer, 1, texts, scratch), 0, value, 0.0)
            state[_FIELDS] += 1
            return True
        edge, good = _number(buffer, token, 1)
        _put(out, state, BIN, state[_BINS], 0, edge, value)
        state[_BINS] += 1
        return good
    if word != _ATTR and not header:
        return False
    name, value_code = _code(buffer, 1, texts, scratch), _code(buffer, 2, texts, scratch)
    kind = CONFIG
    if word == _ITERVAR:
        kind = ITERVAR
    elif word == _ATTR:
        kind = RUN_ATTR if header else OF_ITEM + owner
        if kind == OF_ITEM + _OF_VECTOR and _is(words, token, 1, _UNIT, 4):
            out[1][2, state[_VECTOR_ROW]] = value_code
    _put(out, state, kind, name, value_code, 0.0, 0.0)
    return True


@njit()
def _start(buffer, word, texts, scratch):
    """The lines `run` and `version`: whether it is plain."""
    data, (token, state) = buffer[0], scratch
    if word == _VERSION:
        return token[_QUOTED, 1] == 0 and token[_LENGTH, 1] == 1 and 50 <= data[token[_PLACE, 1]] <= 51
    if state[_RUN_CODE] >= 0:
        return False
    state[_RUN_CODE], state[_IN_HEADER] = _code(buffer, 1, texts, scratch), 1
    return True


@njit()
def _file(buffer, at, end, texts, vectors, scratch, out):
    """One file's records, from the row that the state has: SOUND, STRANGE or TOO_MUCH."""
    (data, words), (token, state) = buffer, scratch
    begin = at
    state[_RUN_CODE:] = 0
    state[_RUN_CODE] = state[_OWNER] = -1
    while at < end:
        line = at
        at = kernel._skip_blanks(data, at)
        byte = data[at]
        if 48 <= byte <= 57 or byte == _HASH:
            state[_HAS_DATA] |= byte != _HASH
            at = kernel._next_line(words, at)
            continue
        if state[_ROW] + _ROWS_A_LINE > len(out[0]) or 2 * (state[_TEXTS] + _MOST_TOKENS) > len(texts[0]):
            return TOO_MUCH
        parts, at = _tokens(data, words, at, token)
        if parts == 0:
            continue
        if parts < 0 or token[_QUOTED, 0]:
            return STRANGE
        word = words[token[_PLACE, 0]] & _MASKS[min(8, token[_LENGTH, 0])]
        if word in (_ATTR, _CONFIG, _PARAM, _ITERVAR, _FIELD, _BIN):
            good = parts == 3 and _part(buffer, word, texts, scratch, out)
        elif word in (_RUN, _VERSION):
            good = parts == 2 and _start(buffer, word, texts, scratch)
        else:
            good = _item(buffer, parts, line - begin, texts, vectors, scratch, out)
        if not good:
            return STRANGE
    _close_item(out, state)
    return SOUND if state[_RUN_CODE] >= 0 else STRANGE


@njit(nogil=True)
def read_files(buffer, which, texts, vectors, scratch, out, samples, told):
    """Files `first` and on, as far as there is room: (file reached, rows, samples, texts known).

    A file's whole lines are the bytes begins[file]..ends[file]. `told` gets, file by file: whether it is plain all
    through, the code of its run, rows so far, samples so far. `texts` has one already: "". A file that needs all the
    room is not plain. `declared` has -1 in its first row.
    """
    (data, words), (begins, ends, first), (declared, used), state = buffer, which, vectors, scratch[1]
    ids, events, raws, exponents, values = samples
    row, sample = np.int64(0), np.int64(0)
    state[_TEXTS], state[_ROW] = 1, 0
    for file in range(first, len(begins)):
        at, end = begins[file], ends[file]
        how = _file(buffer, at, end, texts, vectors, scratch, out)
        behind = sample
        if how == SOUND and state[_HAS_DATA]:
            status, _, behind = kernel.parse(
                data, words, at, end, -at, declared, ids, events, raws, exponents, values, sample
            )
            if status != DONE:
                how = TOO_MUCH if status == FULL else STRANGE
        for i in range(state[_VECTORS]):
            declared[0, used[i]] = -1
        if how == TOO_MUCH and file > first:
            return file, row, sample, state[_TEXTS]
        if how == SOUND:
            row, sample = state[_ROW], behind
        state[_ROW] = row
        told[0, file], told[1, file], told[2, file], told[3, file] = how == SOUND, state[_RUN_CODE], row, sample
        if how == TOO_MUCH:
            return file + 1, row, sample, state[_TEXTS]
    return len(begins), row, sample, state[_TEXTS]
