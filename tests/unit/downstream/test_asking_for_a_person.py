"""A resource asks for a person: in JSON, in a stream of events, and in pieces."""

from collections.abc import AsyncIterator

import pytest

from adapters.outbound.resources.answers import gathered
from adapters.outbound.resources.messages import result_of
from domain.routing.model import RunDelta, RunResult
from tests.support.runs import a_request


@pytest.mark.parametrize("text", ["A colleague will answer.", ""])
def test_an_answer_may_ask_for_a_person(text: str) -> None:
    assert result_of({"text": text, "handover": True}) == RunResult(text, wants_person=True)
    assert result_of({"text": text}) == RunResult(text)


def test_to_ask_for_a_person_is_an_answer() -> None:
    assert result_of({"handover": True}) == RunResult("", wants_person=True)


@pytest.mark.parametrize("wrong", ["yes", 1, {}])
def test_what_is_neither_true_nor_false_is_refused(wrong: object) -> None:
    with pytest.raises(ValueError, match="handover is not true or false"):
        result_of({"text": "x", "handover": wrong})


async def test_one_piece_is_enough() -> None:
    async def pieces() -> AsyncIterator[RunDelta]:
        yield RunDelta("A ", wants_person=True)
        yield RunDelta("colleague")

    assert await gathered(pieces(), a_request()) == RunResult("A colleague", wants_person=True)
