"""Statements that run for each message."""

from __future__ import annotations

import pytest

from adapters.outbound.storage import conversations, inbox, outbox
from adapters.outbound.storage.statements import LONGEST_REMEMBERED, compact

FOR_EACH_MESSAGE = {
    "storing events": inbox.ADD,
    "storing events that bear ids": inbox.ADD_UNLESS_ECHO,
    "recording outcomes": conversations.RECORD,
    "recording outcomes of events that bear ids": conversations.RECORD_UNLESS_ECHO,
    "marking sent parts": outbox.FINISH,
    "leasing conversations": conversations.SIDE.statement(),
    "leasing deliveries": outbox.SIDE.statement(),
}


@pytest.mark.parametrize("statement", FOR_EACH_MESSAGE.values(), ids=FOR_EACH_MESSAGE)
def test_psycopg_remembers_the_statements_of_each_message(statement: str) -> None:
    assert len(statement) <= LONGEST_REMEMBERED


def test_a_compact_statement_stands_on_one_line() -> None:
    assert compact("\n  SELECT 1,\n      'a b'\n") == "SELECT 1, 'a b'"
