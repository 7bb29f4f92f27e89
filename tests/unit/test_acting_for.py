"""A gateway names to the core the user that a service acts for."""

from contextvars import copy_context
from typing import Any

import pytest

from adapters.outbound.core_client import connection
from adapters.rpc.metadata import acting_for
from domain.access.service import AccessService
from domain.refusals import Invalid, Unauthenticated

UNUSED: Any = None


def carried(token: str, user: str | None) -> connection.Metadata:
    context = copy_context()
    context.run(connection.carry, token, user)
    return context[connection.credential]


@pytest.mark.parametrize("user", ["ann", "m\N{LATIN SMALL LETTER U WITH DIAERESIS}nchen"])
def test_the_name_arrives_as_it_was(user: str) -> None:
    assert acting_for(carried("key", user)) == user


@pytest.mark.parametrize("user", [None, ""])
def test_nobody_is_named(user: str | None) -> None:
    assert acting_for(carried("key", user)) is None


def test_a_client_may_name_an_ascii_user_in_plain_metadata() -> None:
    assert acting_for([("x-user-id", "ann")]) == "ann"


@pytest.mark.parametrize("given", [b"\xff", b"a\xff\xfe", b"\xed\xa0\x80"])
async def test_a_name_that_is_no_utf_8_is_refused_and_never_becomes_another(given: bytes) -> None:
    named = acting_for([("x-user-id-bin", given)])
    with pytest.raises(Invalid, match="x-user-id: must be text in UTF-8"):
        await AccessService(UNUSED, UNUSED, UNUSED, UNUSED, UNUSED, "service-key").authenticate(
            "service-key", named
        )


@pytest.mark.parametrize("token", ["sb_\N{LATIN SMALL LETTER U WITH DIAERESIS}", "x" * 20_000, "a\tb"])
def test_a_token_that_metadata_cannot_carry_is_unknown(token: str) -> None:
    with pytest.raises(Unauthenticated):
        carried(token, None)


def test_a_proxy_adds_no_second_user_to_that_of_a_client() -> None:
    assert acting_for([("x-user-id", "ann"), ("x-user-id-bin", b"ann"), ("x-user-id", "")]) == "ann"
    for others in ([("x-user-id", "bob")], [("x-user-id-bin", b"bob")], [("x-user-id-bin", b"\xff")]):
        with pytest.raises(Invalid, match="x-user-id: names several users"):
            acting_for([("x-user-id", "ann"), *others])
