"""Which messages open a closed conversation again."""

from dataclasses import replace

import pytest

from domain.channels.messages import Change, Event, Sender
from domain.conversations.reopening import opens_again

SAID = Event("1", "s", Sender("ada"), "hello", {})


@pytest.mark.parametrize(
    "event",
    [
        SAID,
        replace(SAID, text="", choice="large"),
        replace(SAID, choice="approval:1:x"),
        replace(SAID, automated=True, correspondent="ada@example.com"),
        replace(SAID, canned_reply="Welcome"),
    ],
    ids=["a message", "a choice", "a decision", "a mail", "a command"],
)
def test_a_person_opens_it(event: Event) -> None:
    assert opens_again(event)


@pytest.mark.parametrize(
    "event",
    [
        replace(SAID, change=Change.EDITED, new_if_answered=True),
        replace(SAID, change=Change.DELETED),
        replace(SAID, text="", reaction="👍"),
        replace(SAID, text="", choice="thumb:up:7:x"),
        replace(SAID, refused="bot"),
        replace(SAID, automated=True),
        replace(SAID, only_decides=True),
    ],
    ids=["an edit", "a deletion", "a reaction", "a vote", "a bot", "a program", "a word to others"],
)
def test_nothing_else_opens_it(event: Event) -> None:
    assert not opens_again(event)
