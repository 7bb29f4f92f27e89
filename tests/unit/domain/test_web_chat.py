"""Visitors of the web chat, their tokens, and the ids by which web pages name an instance."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from adapters.outbound.system.signed_tokens import Signer
from domain.instances.model import Instance
from domain.refusals import Unauthenticated
from domain.web_chat.model import SignedIdentity, Site, Visitor, embed_tag, own_origin, plain_nodes, public_id
from domain.web_chat.service import anonymous, signed, token_of, visitor_of

NOW = datetime(2026, 11, 22, 12, 0, 0, 123456, tzinfo=UTC)
SHOP = Instance(7, "ann", "web-chat", "shop", {}, None, NOW, NOW)
SITE = Site(secret="s" * 32)
KEY, NEWER = "k" * 43 + "=", "n" * 43 + "="
SIGNER = Signer(KEY, b"visitors")
ANN = signed(SignedIdentity("42", "Ann", "ann@example.com"), NOW)


def read(
    token: str, instance: Instance = SHOP, site: Site = SITE, now: datetime = NOW, signer: Signer = SIGNER
) -> object:
    return visitor_of(signer, instance, site, token, now)


@pytest.mark.parametrize("visitor", [anonymous("x" * 22), ANN])
def test_a_token_says_who_the_visitor_is(visitor: Visitor) -> None:
    token = token_of(SIGNER, SHOP, SITE, visitor)
    assert read(token) == visitor
    assert token == token_of(SIGNER, SHOP, SITE, visitor)


def test_a_signed_visitor_is_known_for_a_day() -> None:
    token = token_of(SIGNER, SHOP, SITE, ANN)
    assert read(token, now=NOW + timedelta(hours=23)) == ANN
    with pytest.raises(Unauthenticated, match="load the page again"):
        read(token, now=NOW + timedelta(hours=24))


def test_another_secret_ends_the_sessions_of_signed_visitors_alone() -> None:
    other = Site(secret="t" * 32)
    visitor = anonymous("x" * 22)
    assert read(token_of(SIGNER, SHOP, SITE, visitor), site=other) == visitor
    with pytest.raises(Unauthenticated):
        read(token_of(SIGNER, SHOP, SITE, ANN), site=other)


def test_a_token_is_good_for_one_instance_and_one_purpose() -> None:
    token = token_of(SIGNER, SHOP, SITE, anonymous("x" * 22))
    with pytest.raises(Unauthenticated):
        read(token, replace(SHOP, id=8))
    with pytest.raises(Unauthenticated):
        read(token, signer=Signer(KEY, b"files"))


def test_tokens_outlive_a_new_key_until_the_old_one_is_removed() -> None:
    token = token_of(SIGNER, SHOP, SITE, ANN)
    assert read(token, signer=Signer(f"{NEWER},{KEY}", b"visitors")) == ANN
    with pytest.raises(Unauthenticated):
        read(token, signer=Signer(NEWER, b"visitors"))


@pytest.mark.parametrize("token", ["", "x", "\N{SNOWMAN}", "a" * 100, "x" * 100_000, "=" * 40])
def test_what_is_no_token_is_refused(token: str) -> None:
    with pytest.raises(Unauthenticated):
        read(token)


@pytest.mark.parametrize("length", [21, 22, 23])
def test_each_character_of_a_token_counts(length: int) -> None:
    token = token_of(SIGNER, SHOP, SITE, anonymous("x" * length))
    forged = [
        f"{token[:at]}{other}{token[at + 1 :]}" for at in (0, 20, 60, len(token) - 1) for other in "ABQRg"
    ]
    for made_up in {*forged, f"{token}=", f"{token}==", f" {token}"} - {token}:
        with pytest.raises(Unauthenticated):
            read(made_up)


def test_a_public_id_follows_from_what_never_changes() -> None:
    changed = replace(
        SHOP, channel_name="new", config={"a": 1}, resource_id="r", updated_at=NOW + timedelta(days=1)
    )
    others = [
        replace(SHOP, id=8),
        replace(SHOP, created_at=NOW + timedelta(microseconds=1)),
        replace(SHOP, user_id="b"),
    ]
    assert public_id(changed) == public_id(SHOP)
    assert len({public_id(instance) for instance in (SHOP, *others)}) == 4
    assert f'data-instance="{public_id(SHOP)}"' in embed_tag("https://bot.example", SHOP)


@pytest.mark.parametrize(
    ("text", "nodes"),
    [
        ("", []),
        (" \n ", []),
        ("one", [["p", {}, "one"]]),
        ("one\n\n<b>two", [["p", {}, "one", ["br", {}], ["br", {}], "<b>two"]]),
    ],
)
def test_a_typed_text_is_shown_as_it_was_typed(text: str, nodes: object) -> None:
    assert plain_nodes(text) == nodes


def test_the_origin_of_the_service_is_that_of_its_address() -> None:
    assert own_origin("https://Bot.example:8443/base") == "https://bot.example:8443"
