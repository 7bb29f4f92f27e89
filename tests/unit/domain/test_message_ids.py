"""Ids of messages survive the way to a caller and back; what cannot be one is none."""

import pytest

from domain.conversations.model import MessageId, MessageKind, parse_message_id

ARABIC_ONE = "\N{ARABIC-INDIC DIGIT ONE}"
NO_IDS = [
    "",
    "in-",
    "in-0",
    "in-01",
    "in--1",
    "other-1",
    "in-1\n",
    f"in-{ARABIC_ONE}",
    "in-" + "9" * 19,
    "note-1",
]
"""Notes stand in lists alone: no call takes one."""


@pytest.mark.parametrize("kind", [kind for kind in MessageKind if kind is not MessageKind.NOTE])
def test_an_id_is_read_as_it_was_written(kind: MessageKind) -> None:
    id = MessageId(kind, 9_007_199_254_740_993)
    assert parse_message_id(str(id)) == id


@pytest.mark.parametrize("text", NO_IDS)
def test_other_texts_are_no_ids(text: str) -> None:
    assert parse_message_id(text) is None
