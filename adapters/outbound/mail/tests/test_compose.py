"""Replies as they go over the wire."""

from datetime import UTC, datetime
from email import message_from_bytes
from email.message import Message
from email.policy import SMTP

import pytest

from adapters.outbound.mail.compose import MailTarget, compose_reply, reply_target
from adapters.outbound.mail.headers import Headers
from domain.channels.answers import OutboundMessage

AT = datetime(2026, 11, 3, 10, tzinfo=UTC)
OUTLOOK = "<AM0PR04MB6594F2B5D9C8A7E6F5D4C3B2A1908@AM0PR04MB6594.eurprd04.prod.outlook.com>"
BODY = OutboundMessage({"plain": "hi", "html": "<p>hi</p>"})
LONGER = f"<{'a' * 300}@example.com>"


def sent(*fields: tuple[str, str]) -> Message:
    """The reply to a mail with these header fields, read by another parser than the one that wrote it."""
    target = reply_target(Headers([("From", "ann@example.com"), *fields]), MailTarget)
    reply = compose_reply("bot@example.com", target, BODY, "key", AT)
    return message_from_bytes(reply.as_bytes(policy=SMTP.clone(cte_type="7bit")))


@pytest.mark.parametrize("first", ["<1@example.com>", OUTLOOK, LONGER])
@pytest.mark.parametrize("last", ["<2@example.com>", f"<b{OUTLOOK[1:]}", f"<b{LONGER[1:]}"])
def test_ids_of_any_length_stay_as_they_are(first: str, last: str) -> None:
    reply = sent(("Message-ID", last), ("References", first))
    assert reply["In-Reply-To"] == last
    assert reply["References"].split() == [first, last]


def test_no_line_is_longer_than_mail_may_be() -> None:
    ids = " ".join(f"<{number}{OUTLOOK[1:]}" for number in range(30))
    target = reply_target(
        Headers([("From", "ann@example.com"), ("Message-ID", OUTLOOK), ("References", ids)]), MailTarget
    )
    reply = compose_reply("bot@example.com", target, BODY, "key", AT)
    assert max(map(len, reply.as_bytes(policy=SMTP).split(b"\r\n"))) <= 998


def test_ids_beyond_ascii_are_left_out() -> None:
    reply = sent(("Message-ID", "<ä@example.com>"), ("References", "<1@example.com> <ö@example.com>"))
    assert reply["In-Reply-To"] is None
    assert reply["References"] == "<1@example.com>"


def test_whose_name_or_address_is_beyond_ascii_is_answered_too() -> None:
    target = reply_target(Headers([("From", '"Müller, Jörg" <jörg@bücher.example>')]), MailTarget)
    reply = compose_reply("bot@example.com", target, BODY, "key", AT)
    written = reply.as_bytes(policy=SMTP.clone(cte_type="7bit", utf8=True)).decode()
    assert 'To: "Müller, Jörg" <jörg@bücher.example>\r\n' in written


@pytest.mark.parametrize("address", ["a@b..example", "a@example.", ".a@example.com", ".ä@example.com"])
def test_an_address_that_is_none_is_told_as_such(address: str) -> None:
    target = reply_target(Headers([("From", address)]), MailTarget)
    with pytest.raises(ValueError, match=r"\S"):
        compose_reply("bot@example.com", target, BODY, "key", AT)


@pytest.mark.parametrize(
    ("addresses", "recipients"),
    [
        ("bob@a.example, Carl <carl@a.example>", ["bob@a.example", "carl@a.example"]),
        ("Desk <desk@us.example>, bob@a.example", ["bob@a.example"]),
        ("bob@a.example, BOB@a.example", ["bob@a.example"]),
        (", ".join(f"p{n}@a.example" for n in range(9)), [f"p{n}@a.example" for n in range(5)]),
    ],
)
def test_an_answer_goes_to_all_that_the_mail_asks_for(addresses: str, recipients: list[str]) -> None:
    target = reply_target(Headers([("From", "ann@a.example"), ("Reply-To", addresses)]), MailTarget)
    message = OutboundMessage({"plain": "Yes", "html": "<p>Yes</p>"})
    mail = compose_reply("desk@us.example", target, message, "k", datetime(2026, 11, 20, tzinfo=UTC))
    assert [address.addr_spec for address in mail["To"].addresses] == recipients
