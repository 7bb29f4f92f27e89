"""Text from outside, made fit for a log line or a terminal: escaped, and of bounded length.

Nothing here writes an object of unknown size out: its `repr` may take minutes and hundreds of megabytes.
"""

import linecache
from collections import deque
from collections.abc import Iterator
from datetime import date
from enum import Enum
from pathlib import PurePath
from types import TracebackType
from typing import Any
from uuid import UUID

LONGEST_VALUE = 2_000
"""Characters of one value in a log line, and of the message of one exception."""
LONGEST_SOURCE = 200
"""Characters of a path or of a source line in a traceback."""
LONGEST_TRACEBACK = 16_000
"""Characters of a traceback with all its exceptions: log collectors split longer records."""
FIRST_FRAMES, LAST_FRAMES = 5, 15
"""Frames that are shown of the beginning and of the end of a stack."""
MAX_CHAIN = 5
"""Exceptions that are shown of a chain of causes, and of each group."""
MAX_GROUPS = 3
"""Levels of groups within groups."""

_CAUSED = "The above exception was the direct cause of the following exception:"
_DURING = "During handling of the above exception, another exception occurred:"


def escaped(text: str) -> str:
    """The text with each character that does not print (control characters, line separators, marks that change the
    direction of writing, lone surrogates) as a visible escape such as \\x1b or \\u202e."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode("ascii")
        for character in text
    )


def cut(text: str, longest: int = LONGEST_VALUE) -> str:
    """The text, or its beginning with a note of how long it is."""
    return text if len(text) <= longest else f"{text[:longest]}… ({len(text)} characters)"


def shown(value: object) -> Any:
    """A value as a log line shows it: numbers as they are, texts cut, other objects by their type alone."""
    if isinstance(value, bool | float | None):
        return value
    if isinstance(value, int):
        return value if value.bit_length() <= 256 else f"<integer of {value.bit_length()} bits>"
    if isinstance(value, str):
        return cut(str(value.value) if isinstance(value, Enum) else value)
    if isinstance(value, BaseException):
        return message_of(value)
    if isinstance(value, PurePath | UUID | date):
        return cut(str(value))
    if isinstance(value, bytes):
        return repr(value[:LONGEST_SOURCE]) + ("…" if len(value) > LONGEST_SOURCE else "")
    return f"<{type(value).__module__}.{type(value).__qualname__}>"


def message_of(error: BaseException) -> str:
    """The message of an exception. Arguments that are neither text nor numbers are shown by their type."""
    if type(error).__str__ in (BaseException.__str__, KeyError.__str__):
        return cut(", ".join(str(shown(argument)) for argument in error.args[:MAX_CHAIN]))
    try:
        return cut(str(error))
    except Exception as broken:  # noqa: BLE001 - whatever it is, the log line must be written
        return f"<message not available: {type(broken).__name__}>"


def traceback_of(error: BaseException) -> str:
    """The traceback of an exception with its causes and groups, each line escaped. Local variables are not shown."""
    text = ""
    for line in _lines(error, {id(error)}, MAX_GROUPS):
        text += f"{escaped(line)}\n"
        if len(text) > 4 * LONGEST_TRACEBACK:
            break
    if len(text) <= LONGEST_TRACEBACK:
        return text.rstrip("\n")
    half = LONGEST_TRACEBACK // 2
    return f"{text[:half]}\n… characters are left out here …\n{text[-half:]}".rstrip("\n")


def _lines(error: BaseException, seen: set[int], groups: int) -> Iterator[str]:
    chain = _chain(error, seen)
    for position, (exception, link) in enumerate(chain):
        if position:
            yield from ("", link, "")
        yield from _own_lines(exception)
        if isinstance(exception, BaseExceptionGroup):
            yield from _group_lines(exception, seen, groups)


def _chain(error: BaseException, seen: set[int]) -> list[tuple[BaseException, str]]:
    """The exception and what it came from, the oldest first, each with the words that link it to the one before."""
    chain: list[tuple[BaseException, str]] = []
    current: BaseException | None = error
    while current is not None and len(chain) < MAX_CHAIN:
        hidden = current.__suppress_context__
        chain.append((current, _CAUSED if current.__cause__ else _DURING))
        following = current.__cause__ or (None if hidden else current.__context__)
        if following is None or id(following) in seen:
            break
        seen.add(id(following))
        current = following
    return chain[::-1]


def _group_lines(group: BaseExceptionGroup[Any], seen: set[int], groups: int) -> Iterator[str]:
    if not groups:
        yield "  … the exceptions of this group are left out"
        return
    for number, member in enumerate(group.exceptions[:MAX_CHAIN], start=1):
        yield f"  --- {number} of {len(group.exceptions)} ---"
        yield from (f"  {line}" for line in _lines(member, {*seen, id(member)}, groups - 1))


def _own_lines(error: BaseException) -> Iterator[str]:
    if error.__traceback__ is not None:
        yield "Traceback (most recent call last):"
        yield from _frames(error.__traceback__)
    kind = type(error).__qualname__
    if type(error).__module__ not in ("builtins", "__main__"):
        kind = f"{type(error).__module__}.{kind}"
    message = message_of(error)
    yield f"{kind}: {message}" if message else kind
    for note in getattr(error, "__notes__", ())[:MAX_CHAIN]:
        yield str(shown(note))


def _frames(traceback: TracebackType) -> Iterator[str]:
    first: list[TracebackType] = []
    last: deque[TracebackType] = deque(maxlen=LAST_FRAMES)
    count = 0
    current: TracebackType | None = traceback
    while current is not None:
        count += 1
        (first if count <= FIRST_FRAMES else last).append(current)
        current = current.tb_next
    for frame in first:
        yield from _frame(frame)
    if left_out := count - len(first) - len(last):
        yield f"  … {left_out} frames are left out …"
    for frame in last:
        yield from _frame(frame)


def _frame(entry: TracebackType) -> Iterator[str]:
    code, number = entry.tb_frame.f_code, entry.tb_lineno
    yield f'  File "{cut(code.co_filename, LONGEST_SOURCE)}", line {number}, in {code.co_name}'
    source = linecache.getline(code.co_filename, number, entry.tb_frame.f_globals).strip()
    if source:
        yield f"    {cut(source, LONGEST_SOURCE)}"
