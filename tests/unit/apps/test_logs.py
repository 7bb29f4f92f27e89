"""A log line is bounded in time and size, and shows no control character, whatever it is about."""

import io
import json
import logging
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from apps import logs
from apps.logs import LONGEST_TRACEBACK, escaped

LARGEST_LINE = 3 * LONGEST_TRACEBACK
"""Characters of one record, its traceback and the escapes of JSON included."""
SOON_S = 20.0
"""Far above what bounded work takes, far below what the rendering of the objects would."""
FOREIGN = "\x1b[2J\r\n2026-01-01 [info] forged\x9b1m\u2028\u202eevil\x00\x7f"


WRITTEN_OUT = "this was written out"


class Slow:
    """An object whose description would take longer than anybody waits."""

    def __repr__(self) -> str:
        return WRITTEN_OUT

    __str__ = __repr__


class Output:
    """A logger of its own, and what it wrote."""

    def __init__(self, as_json: bool) -> None:
        self.as_json = as_json
        self.stream = io.StringIO()
        self.log = logging.Logger("test")
        self.log.addHandler(logs.handler(self.stream, as_json=as_json))

    @property
    def text(self) -> str:
        return self.stream.getvalue()


@pytest.fixture(params=[True, False], ids=["json", "console"])
def output(request: pytest.FixtureRequest) -> Output:
    return Output(request.param)


@pytest.fixture(autouse=True)
def _no_request_stays_bound() -> Iterator[None]:
    yield
    logs.current_request.set("")


def deep(levels: int, ballast: str) -> None:
    if levels:
        deep(levels - 1, ballast)
    raise ValueError("at the bottom")


@pytest.fixture
def deep_stacks() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    yield
    sys.setrecursionlimit(before)


def recursion() -> None:
    deep(5_000, "x" * 10_000_000)


def long_message() -> None:
    raise ValueError("x" * 10_000_000)


def many_arguments() -> None:
    raise ValueError(*range(1_000_000))


def slow_argument() -> None:
    raise ValueError("broken", Slow(), {"key": Slow()}, [Slow()] * 1000)


def missing_key() -> None:
    raise KeyError(Slow())


def slow_locals() -> None:
    ballast, other = Slow(), ["x" * 1000] * 1_000_000
    raise ValueError(f"beside {len(other)} values and {type(ballast)}")


def group() -> None:
    inner = ExceptionGroup("inner", [ValueError("y" * 100_000) for _ in range(1000)])
    for _ in range(50):
        inner = ExceptionGroup("z" * 100_000, [inner, inner, inner, inner, inner])
    raise inner


def cycle() -> None:
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    raise first


def long_chain() -> None:
    error = ValueError("the last")
    current: BaseException = error
    for number in range(5_000):
        current.__context__ = ValueError(f"{number}: " + "w" * 1000)
        current = current.__context__
    raise error


def notes() -> None:
    error = ValueError("with notes")
    for _ in range(10_000):
        error.add_note("n" * 10_000)
    raise error


def huge_number() -> None:
    raise ValueError(10**100_000)


HOSTILE = [
    recursion,
    long_message,
    many_arguments,
    slow_argument,
    missing_key,
    slow_locals,
    group,
    cycle,
    long_chain,
    notes,
    huge_number,
]


@pytest.mark.usefixtures("deep_stacks")
@pytest.mark.parametrize("fail", HOSTILE, ids=lambda each: each.__name__)
def test_logging_an_error_is_bounded_in_time_and_size(fail: Callable[[], None], output: Output) -> None:
    try:
        fail()
    except Exception:
        began = time.process_time()
        output.log.exception("it failed")
        took = time.process_time() - began
    assert took < SOON_S
    assert len(output.text) < LARGEST_LINE
    assert WRITTEN_OUT not in output.text
    assert "it failed" in output.text
    assert "Traceback" in output.text
    assert fail.__name__ in output.text


@pytest.mark.parametrize(
    "value",
    [
        "x" * 10_000_000,
        Slow(),
        [Slow()],
        {"key": Slow()},
        10**100_000,
        ValueError(Slow()),
        b"\0" * 10_000_000,
    ],
    ids=["text", "object", "list", "object in a dict", "number", "exception", "bytes"],
)
def test_a_value_is_cut_and_never_written_out_as_a_whole(value: Any, output: Output) -> None:
    output.log.info("got %s and %r", value, value, extra={"instance": value})
    output.log.info(value)
    output.log.info("got %(it)s", {"it": value})
    assert output.text.count("got ") == 2
    assert WRITTEN_OUT not in output.text
    assert len(output.text) < LARGEST_LINE


def test_foreign_text_neither_forges_lines_nor_reaches_the_terminal(output: Output) -> None:
    try:
        raise ValueError(f"said {FOREIGN}")
    except ValueError as error:
        error.add_note(FOREIGN)
        output.log.warning(
            "%s %s", FOREIGN, error, exc_info=True, stack_info=True, extra={"conversation": FOREIGN}
        )
    logs.current_request.set(FOREIGN)
    output.log.info(FOREIGN)
    output.log.info("inside " + FOREIGN + " the text")  # noqa: G003 - as libraries do
    assert all(each.isprintable() for each in output.text.split("\n"))
    assert not [line for line in output.text.split("\n") if line.startswith("2026-01-01")]
    shown = output.text.replace("\\\\", "\\")
    assert shown.count("\\x1b[2J\\r\\n2026-01-01 [info] forged\\x9b1m\\u2028\\u202eevil\\x00\\x7f") >= 7


def test_a_record_that_does_not_fit_its_text_is_written_all_the_same(
    output: Output, capsys: pytest.CaptureFixture[str]
) -> None:
    output.log.info("%d of %d", FOREIGN, 2)
    assert "%d of %d" in output.text
    assert capsys.readouterr().err == ""


def test_a_line_tells_what_it_is_about() -> None:
    output = Output(as_json=True)
    logs.current_request.set("r-1")
    try:
        int("x")
    except ValueError:
        output.log.exception("%s failed after %d tries", "it", 3, extra={"instance": 7})
    line = json.loads(output.text)
    assert line["event"] == "it failed after 3 tries"
    assert (line["instance"], line["request"], line["level"]) == (7, "r-1", "error")
    assert line["exception"].endswith("ValueError: invalid literal for int() with base 10: 'x'")


def test_the_cause_of_an_error_stands_above_it(output: Output) -> None:
    try:
        try:
            raise KeyError("cause")
        except KeyError as error:
            raise ValueError("effect") from error
    except ValueError:
        output.log.exception("failed")
    assert output.text.index("KeyError: cause") < output.text.index("direct cause")
    assert output.text.index("direct cause") < output.text.index("ValueError: effect")


def test_printable_text_stays_as_it_is() -> None:
    assert escaped("Grüße, 世界 🎉 \\n") == "Grüße, 世界 🎉 \\n"
    assert escaped("a\tb\ud800") == "a\\tb\\ud800"
