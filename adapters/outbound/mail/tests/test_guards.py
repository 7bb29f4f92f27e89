"""Which mail is never answered, and whose sender is proven."""

import pytest

from adapters.outbound.mail.guards import aligned, authenticated_sender, reason_not_to_answer
from adapters.outbound.mail.headers import Headers, message_id

OWN = "agent@example.com"


def headers(*fields: tuple[str, str], sender: str = "Ann <ann@client.example>") -> Headers:
    return Headers([("From", sender), ("Message-ID", "<1@client.example>"), *fields])


def test_ordinary_mail_is_answered() -> None:
    assert reason_not_to_answer(headers(("Auto-Submitted", "no")), OWN) is None
    assert reason_not_to_answer(headers(("Precedence", "normal")), OWN) is None


@pytest.mark.parametrize(
    ("field", "reason"),
    [
        (("Auto-Submitted", "auto-replied"), "auto-submitted"),
        (("auto-submitted", " Auto-Generated; x=y"), "auto-submitted"),
        (("Precedence", "Bulk"), "bulk"),
        (("Precedence", "list"), "bulk"),
        (("Precedence", "junk"), "bulk"),
        (("List-Id", "<news.example>"), "list"),
        (("Return-Path", "<>"), "bounce"),
        (("Return-Path", " < > "), "bounce"),
        (("Content-Type", "multipart/report; report-type=delivery-status"), "bounce"),
        (("Precedence", "auto-reply"), "bulk"),
        (("List-Owner", "<mailto:owner@client.example>"), "list"),
        (("X-BeenThere", "list@client.example"), "list"),
        (("X-Autoreply", "yes"), "auto-reply"),
        (("X-Auto-Reply", "yes"), "auto-reply"),
        (("X-Autoresponder", "yes"), "auto-reply"),
        (("Reply-To", "Agent <AGENT@example.com>"), "own-mail"),
        (("X-Auto-Response-Suppress", "OOF, AutoReply"), "auto-reply"),
    ],
)
def test_machines_are_not_answered(field: tuple[str, str], reason: str) -> None:
    assert reason_not_to_answer(headers(field), OWN) == reason


@pytest.mark.parametrize(
    ("sender", "reason"),
    [
        ("Agent@Example.com", "own-mail"),
        ("Bot <agent@example.com>", "own-mail"),
        ("Mail Delivery <MAILER-DAEMON@mx.example>", "bounce"),
        ("nobody", "no-sender"),
        ("", "no-sender"),
    ],
)
def test_senders_that_are_not_answered(sender: str, reason: str) -> None:
    assert reason_not_to_answer(headers(sender=sender), OWN) == reason


UNREAD = [
    *(
        "no-reply",
        "noreply",
        "no_reply",
        "no.reply",
        "NoReply",
        "do-not-reply",
        "donotreply",
        "do_not_reply",
        "DONOTREPLY",
    ),
    *(
        "mailer-daemon",
        "postmaster",
        "bounce",
        "bounces",
        "bounces+17=ann",
        "bounce-17",
        "list-bounces",
        "noreply+17",
    ),
    *(
        "no-reply-123",
        "noreply.service",
        "noreply123",
        "accounts-noreply",
        "drive-shares-dm-noreply",
        "nicht-antworten",
    ),
    *("ne-pas-repondre", "no-responder"),
    *(
        "não-responda",
        "nao.responder",
        "ne-pas-répondre",
        "inte-svara",
        "svar-ikke",
        "nie-odpowiadaj",
        "don't-reply",
    ),
    *("listserv", "majordomo", "owner-news", "news-request", f"MicrosoftExchange{'329e71ec' * 4}"),
    *("no--reply", "teamnoreply", "auto-reply", "autoresponder", "do-not-respond", "noresponse"),
]


@pytest.mark.parametrize("local", UNREAD)
def test_addresses_that_nobody_reads_are_not_answered(local: str) -> None:
    nobody = f"Service <{local}@Shop.example>"
    expected = ("no-reply", "bounce")
    assert reason_not_to_answer(headers(sender=nobody), OWN) in expected
    assert reason_not_to_answer(headers(("Reply-To", nobody)), OWN) == "no-reply"
    assert reason_not_to_answer(headers(("Reply-To", nobody), sender=nobody), OWN) in expected


@pytest.mark.parametrize(
    "local",
    [
        "noreen",
        "ann.reply",
        "bounceback-team",
        "ann.bounce",
        "nora.eply",
        "reply",
        "reply+abc",
        "postmasters",
        "piano.answers",
        "product-owner",
        "svarina",
        "svar-ejendom",
        "requests",
        "auto.repairs",
    ],
)
def test_addresses_that_only_look_alike_are_answered(local: str) -> None:
    assert reason_not_to_answer(headers(sender=f"{local}@client.example"), OWN) is None


def test_a_notification_is_answered_where_its_reply_to_is_a_person() -> None:
    mail = headers(("Reply-To", "Ann <ann@client.example>"), sender="Shop <no-reply@shop.example>")
    assert reason_not_to_answer(mail, OWN) is None


def test_our_own_mail_is_known_by_its_id_whoever_sends_it_back() -> None:
    echo = Headers([("From", "x@client.example"), ("Message-ID", message_id("key", OWN))])
    assert reason_not_to_answer(echo, OWN) == "own-mail"
    assert reason_not_to_answer(echo, "agent@other.example") is None


def results(value: str, sender: str = "Ann <ann@client.example>") -> str | None:
    proven = authenticated_sender(headers(("Authentication-Results", value), sender=sender), ["example.com"])
    return proven.email if proven else None


@pytest.mark.parametrize(
    "value",
    [
        "mx.example.com; dkim=pass header.d=client.example",
        "mx.example.com 1; spf=fail smtp.mailfrom=evil.example; dkim=pass (good) header.i=@client.example",
        "mx.example.com; spf=pass smtp.mailfrom=ann@client.example",
        "example.com; dmarc=pass (p=reject; sp=none) header.from=client.example",
        "mx.example.com; dkim=pass header.d=mail.client.example",
        'mx.example.com; dkim=pass reason="good (2048-bit key; h=sha256)" header.d="client.example"',
        "mx.example.com; dkim=pass (good (really)) header.d=client.example",
    ],
)
def test_a_sender_that_the_own_server_vouches_for_is_proven(value: str) -> None:
    assert results(value) == "ann@client.example"


@pytest.mark.parametrize(
    "value",
    [
        "mx.example.com; none",
        "mx.example.com; dkim=fail header.d=client.example",
        "mx.example.com; dkim=pass header.d=evil.example",
        "mx.example.com; spf=pass smtp.mailfrom=evil.example",
        "mx.example.com; dkim=pass",
        "mx.evil.example; dkim=pass header.d=client.example",
        "notexample.com; dkim=pass header.d=client.example",
        "mx.example.com; x-dkim=pass header.d=client.example",
        "mx.example.com (; dkim=pass header.d=client.example)",
        "mx.example.com (a (b); dkim=pass header.d=client.example)",
        "",
    ],
)
def test_anything_less_proves_nothing(value: str) -> None:
    assert results(value) is None


@pytest.mark.parametrize(
    "mailbox",
    [
        '"ann@client.example"@evil.example',
        '"; dkim=pass header.d=client.example; x"@evil.example',
        '"\\"; dkim=pass header.d=client.example; x\\"@evil.example"',
        'evil.example (of "a); dkim=pass header.d=client.example (b"@evil.example)',
        '"reason="x" ; dkim=pass header.d=client.example; y="z"@evil.example',
    ],
)
def test_a_quoted_envelope_sender_cannot_write_verdicts(mailbox: str) -> None:
    """What the sender gave as MAIL FROM stands in the field that our own server writes."""
    assert results(f"mx.example.com; spf=pass smtp.mailfrom={mailbox}") is None


def test_only_the_topmost_results_count() -> None:
    forged = ("Authentication-Results", "mx.example.com; dkim=pass header.d=client.example")
    genuine = ("Authentication-Results", "mx.example.com; dkim=fail header.d=client.example")
    assert authenticated_sender(headers(genuine, forged), ["example.com"]) is None


def test_two_senders_prove_nobody() -> None:
    good = "mx.example.com; dkim=pass header.d=client.example"
    assert results(good, "ann@client.example, bob@client.example") is None
    twice = Headers(
        [("From", "a@client.example"), ("From", "b@client.example"), ("Authentication-Results", good)]
    )
    assert authenticated_sender(twice, ["example.com"]) is None


def test_gmail_signs_as_google() -> None:
    mail = headers(("Authentication-Results", "mx.google.com; dkim=pass header.i=@client.example"))
    assert authenticated_sender(mail, ["imap.gmail.com"]) is not None
    assert authenticated_sender(mail, ["example.com"]) is None


def test_alignment_needs_more_than_a_top_level_name() -> None:
    assert aligned("a.b", "a.b")
    assert aligned("x.a.b", "a.b")
    assert not aligned("b", "a.b")
    assert not aligned("xa.b", "a.b")
    assert not aligned("", "")
