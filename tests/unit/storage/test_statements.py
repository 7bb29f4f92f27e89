"""Statements that run for each message."""

from __future__ import annotations

import pytest

from adapters.outbound.storage.queue.conversations import COMPLETE, INBOUND
from adapters.outbound.storage.queue.inbox import ENQUEUE
from adapters.outbound.storage.queue.outbox import FINISH, OUTBOUND
from adapters.outbound.storage.statements import LONGEST_REMEMBERED, compact

FOR_EACH_MESSAGE = {
    "storing events": ENQUEUE,
    "recording outcomes": COMPLETE,
    "recording sent messages": FINISH,
    "leasing conversations": INBOUND.lease,
    "leasing messages": OUTBOUND.lease,
}


@pytest.mark.parametrize("statement", FOR_EACH_MESSAGE.values(), ids=FOR_EACH_MESSAGE)
def test_psycopg_remembers_the_statements_of_each_message(statement: str) -> None:
    assert len(statement) <= LONGEST_REMEMBERED


def test_a_compact_statement_stands_on_one_line() -> None:
    assert compact("\n  SELECT 1,\n      'a b'\n") == "SELECT 1,'a b'"
