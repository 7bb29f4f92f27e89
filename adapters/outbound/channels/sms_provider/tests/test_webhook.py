"""What Twilio calls with: proof of origin against Twilio's own validator, and every kind of call."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlencode
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st
from twilio.request_validator import RequestValidator

from adapters.outbound.channels.sms_provider import webhook
from adapters.outbound.channels.sms_provider.config import CONFIG as MODEL
from adapters.outbound.channels.tests.calls import receiver
from adapters.outbound.channels.tests.support import call
from domain.channels.context import bounded
from domain.channels.messages import DeliveryStatus, Identity, OptOut, Quoted, RawCall
from domain.refusals import Invalid, NotFound, Refusal, Unauthenticated

receive = receiver(webhook, MODEL)
FIXTURES = Path(__file__).parents[1] / "fixtures"
URL = "https://switchboard.example/api/agent/channels/sms-provider/7/webhook"
ACCOUNT = "AC00000000000000000000000000000001"
TOKEN = "0123456789abcdef0123456789abcdef"
CONFIG = {"accountSid": ACCOUNT, "authToken": TOKEN, "providerPhoneNumber": "+4915735980001"}


def fixture(name: str) -> dict[str, str]:
    return json.loads((FIXTURES / f"{name}.json").read_text())


def signed(
    fields: dict[str, str],
    *,
    url: str = URL,
    signed_url: str | None = None,
    algorithm: str = "HMAC_SHA1",
    **headers: str,
) -> RawCall:
    signature = RequestValidator(TOKEN).compute_signature(signed_url or url, fields, algorithm)
    found = {"X-Twilio-Signature": signature, **headers}
    if algorithm != "HMAC_SHA1":
        found["X-Twilio-Webhooks-Signature-Settings"] = f"key=webhooks_sharedkey_1,algorithm={algorithm}"
    return call(form=fields, url=url, headers=found)


# --- proof of origin


@pytest.mark.parametrize(
    ("url", "signed_url"),
    [
        (URL, URL),
        (URL, URL.replace("example/", "example:443/")),
        (URL.replace("example/", "example:443/"), URL),
        (URL.replace("https", "http"), URL.replace("https", "http").replace("example/", "example:80/")),
        (URL + "?a=1&b=%20", URL + "?a=1&b=%20"),
    ],
)
@pytest.mark.parametrize("algorithm", ["HMAC_SHA1", "HMAC_SHA256"])
def test_takes_what_twilio_signed(url: str, signed_url: str, algorithm: str) -> None:
    received = receive(
        CONFIG, signed(fixture("message"), url=url, signed_url=signed_url, algorithm=algorithm)
    )
    assert received.missing_proof_field is None
    assert len(received.events) == 1


def test_the_address_counts_as_the_caller_named_it() -> None:
    inside = "http://127.0.0.1:3011/api/agent/channels/sms-provider/7/webhook"
    assert receive(CONFIG, signed(fixture("message"), url=inside, signed_url=URL, host="switchboard.example"))


@pytest.mark.parametrize(
    "change",
    [
        {"Body": "Is the shop open?"},
        {"From": "+4915112345679"},
        {"NewField": "1"},
        {"MessageSid": "SM1"},
    ],
)
def test_refuses_a_changed_form(change: dict[str, str]) -> None:
    genuine = signed(fixture("message"))
    forged = call(form={**fixture("message"), **change}, url=URL, headers=dict(genuine.headers))
    with pytest.raises(Unauthenticated):
        receive(CONFIG, forged)


def test_refuses_another_address() -> None:
    with pytest.raises(Unauthenticated):
        receive(CONFIG, signed(fixture("message"), signed_url=URL.replace("/7/", "/8/")))


@pytest.mark.parametrize(
    "headers",
    [
        {"X-Twilio-Signature": ""},
        {"X-Twilio-Signature": "AAAA"},
        {"X-Twilio-Signature": "\N{SNOWMAN}"},
        {"X-Twilio-Webhooks-Signature-Settings": "key=k,algorithm=HMAC_MD5"},
        {"X-Twilio-Webhooks-Signature-Settings": "key=k,algorithm=HMAC_SHA256"},
    ],
)
def test_refuses_a_wrong_signature(headers: dict[str, str]) -> None:
    genuine = signed(fixture("message"))
    with pytest.raises(Unauthenticated):
        receive(CONFIG, call(form=fixture("message"), url=URL, headers={**genuine.headers, **headers}))


def test_agrees_with_twilio_on_repeated_and_strange_fields() -> None:
    pairs = [
        ("b", "2"),
        ("a", "\N{SNOWMAN}"),
        ("b", "1"),
        ("b", "2"),
        ("AccountSid", ACCOUNT),
        ("From", "+491511234"),
    ]
    pairs += [("Body", ""), ("c d", "e&f=g"), ("MediaUrl0", "https://api.twilio.com/x")]
    body = urlencode(pairs).encode()

    class Fields(dict[str, Any]):
        def getall(self, name: str) -> list[str]:
            return [value for each, value in pairs if each == name]

    signature = RequestValidator(TOKEN).compute_signature(URL, Fields(pairs))
    headers = {"X-Twilio-Signature": signature, "Content-Type": "application/x-www-form-urlencoded"}
    assert receive(CONFIG, call(body=body, url=URL, headers=headers)).missing_proof_field is None


def test_a_json_body_is_covered_by_its_hash() -> None:
    body = json.dumps(fixture("message")).encode()
    url = f"{URL}?bodySHA256={hashlib.sha256(body).hexdigest()}"
    signature = RequestValidator(TOKEN).compute_signature(url, {})
    headers = {"X-Twilio-Signature": signature, "Content-Type": "application/json"}
    assert receive(CONFIG, call(body=body, url=url, headers=headers)).events
    for forged_url, forged in ((url, body.replace(b"shop", b"bank")), (URL, body)):
        with pytest.raises(Unauthenticated):
            receive(CONFIG, call(body=forged, url=forged_url, headers=headers))


def test_a_get_is_signed_by_its_address() -> None:
    url = f"{URL}?{urlencode(fixture('message'))}"
    signature = RequestValidator(TOKEN).compute_signature(url, {})
    headers = {"X-Twilio-Signature": signature}
    assert receive(CONFIG, call(method="GET", url=url, headers=headers)).events
    with pytest.raises(Unauthenticated):
        receive(CONFIG, call(method="GET", url=url + "1", headers=headers))


def test_without_a_signature_the_account_must_match_and_the_call_counts_as_unproved() -> None:
    received = receive(CONFIG, call(form=fixture("message")))
    assert received.missing_proof_field == "X-Twilio-Signature"
    assert len(received.events) == 1


@pytest.mark.parametrize("account", ["", "AC00000000000000000000000000000002", ACCOUNT.lower(), None])
def test_refuses_another_account(account: str | None) -> None:
    fields = fixture("message")
    fields.pop("AccountSid")
    if account is not None:
        fields["AccountSid"] = account
    with pytest.raises(Unauthenticated):
        receive(CONFIG, call(form=fields))


def test_a_signed_call_of_another_account_is_refused() -> None:
    with pytest.raises(Unauthenticated):
        receive(CONFIG, signed({**fixture("message"), "AccountSid": "AC2"}))


def test_other_callbacks_do_not_exist() -> None:
    with pytest.raises(NotFound):
        receive(CONFIG, call(form=fixture("message"), callback="status"))


# --- kinds


def test_a_message_becomes_an_event() -> None:
    received = receive(CONFIG, signed(fixture("message")))
    (event,) = received.events
    assert event.key == "SM0a1b2c3d4e5f60718293a4b5c6d7e8f9"
    assert event.session_id == "+4915112345678"
    assert event.text == "Is the shop open? \N{BLACK SUN WITH RAYS} + & = %"
    assert event.sender.external_id == "+4915112345678"
    assert event.sender.identities == (Identity("phone", "+4915112345678"),)
    assert event.target == {"to": "+4915112345678", "callback": URL}
    assert event.is_direct


def test_the_answer_is_a_response_document_with_a_message() -> None:
    answer = receive(CONFIG, signed(fixture("message"))).answer
    assert answer.status == 200
    assert answer.headers["content-type"].startswith("text/xml")
    assert answer.body.startswith(b"<?xml")
    (message,) = ElementTree.fromstring(answer.body)
    assert message.tag == "Message"
    assert message.text


def test_pictures_come_as_attachments() -> None:
    (event,) = receive(CONFIG, signed(fixture("message_with_pictures"))).events
    assert event.text == ""
    assert [(each.name, each.mime_type) for each in event.attachments] == [
        ("ME11111111111111111111111111111111.jpg", "image/jpeg"),
        ("ME22222222222222222222222222222222.pdf", "application/pdf"),
    ]
    assert event.attachments[0].source["url"].startswith("https://api.twilio.com/")


@pytest.mark.parametrize("url", ["cat.jpg", "file:///etc/passwd", "http://[", ""])
def test_a_picture_without_an_address_to_fetch_is_left_out(url: str) -> None:
    received = receive(CONFIG, signed({**fixture("message"), "MediaUrl0": url}))
    assert all(each.source["url"] == "http://[" for each in received.events[0].attachments)


@pytest.mark.parametrize(
    ("name", "status"),
    [
        (
            "status_delivered",
            DeliveryStatus("SM2a1b2c3d4e5f60718293a4b5c6d7e8f9", "delivered", False, "delivered"),
        ),
        (
            "status_undelivered",
            DeliveryStatus(
                "SM2a1b2c3d4e5f60718293a4b5c6d7e8f9",
                "undelivered",
                True,
                "undelivered error 30005",
                of_recipient=True,
            ),
        ),
    ],
)
def test_a_status_causes_no_message(name: str, status: DeliveryStatus) -> None:
    received = receive(CONFIG, signed(fixture(name)))
    assert received.delivery_statuses == (status,)
    assert received.events == ()
    assert received.kind == "status"
    assert list(ElementTree.fromstring(received.answer.body)) == []


def test_what_came_with_a_message_over_whatsapp() -> None:
    more = {
        "ButtonText": "Yes",
        "ButtonPayload": "ORDER_AGAIN",
        "ReferralSourceId": "ad1",
        "ReferralHeadline": "Summer sale",
        "ReferralCtwaClid": "abc",
        "OriginalRepliedMessageSid": "SM9",
        "Forwarded": "true",
    }
    (event,) = receive(CONFIG, signed({**fixture("message"), **more})).events
    assert event.choice == "ORDER_AGAIN"
    assert event.quoted == Quoted(ref="SM9", key="SM9")
    assert bounded(event.context) == {
        "forwarded": {"frequently": False},
        "referral": {"sourceId": "ad1", "headline": "Summer sale", "ctwaClid": "abc"},
        "platform": {"country": "DE"},
    }


def test_a_picked_row_of_a_list() -> None:
    (event,) = receive(
        CONFIG, signed({**fixture("message"), "ListId": "row2", "ListDescription": "later"})
    ).events
    assert event.choice == "row2"
    assert bounded(event.context)["platform"] == {"country": "DE", "description": "later"}


@pytest.mark.parametrize("others", [["+1415"], ["+1416", "+1415"], ["+1415", "", "+1416"]])
def test_a_message_to_several_numbers_is_no_private_one(others: list[str]) -> None:
    numbered = {f"OtherRecipients{number}": other for number, other in enumerate(others)}
    received = receive(CONFIG, signed({**fixture("message"), **numbered}))
    (event,) = received.events
    assert (event.canned_reply, event.is_direct) == (webhook.NOT_IN_GROUPS, False)
    assert event.session_id == f"group:{','.join(sorted({'+4915112345678', *others} - {''}))}"
    again = receive(CONFIG, signed({**fixture("message"), "MessageSid": "SM8", **numbered}))
    assert again.events[0].key == event.key
    assert received.answer == webhook.SILENT


def test_a_status_bears_the_key_of_its_message() -> None:
    (status,) = receive(
        CONFIG, signed(fixture("status_delivered"), url=f"{URL}?part=key-1")
    ).delivery_statuses
    assert status.key == "key-1"
    with pytest.raises(Unauthenticated):
        receive(CONFIG, signed(fixture("status_delivered"), url=f"{URL}?part=key-1", signed_url=URL))


def test_whatsapp_through_twilio_tells_what_was_read() -> None:
    """https://www.twilio.com/docs/whatsapp/api#monitor-the-status-of-your-whatsapp-outbound-message"""
    fields = {**fixture("status_delivered"), "To": "whatsapp:+4915112345678", "MessageStatus": "read"}
    (status,) = receive(
        CONFIG, signed({**fields, "SmsStatus": "read", "EventType": "READ"})
    ).delivery_statuses
    assert (status.state, status.failed) == ("read", False)


def test_a_minimal_status_needs_its_signature() -> None:
    minimal = {"MessageSid": "SM1", "MessageStatus": "delivered"}
    assert receive(CONFIG, signed(minimal)).delivery_statuses[0].state == "delivered"
    with pytest.raises(Unauthenticated):
        receive(CONFIG, call(form=minimal))


@pytest.mark.parametrize(
    ("fields", "kind"),
    [
        (fixture("opt_out"), "ignored:opt-out"),
        ({**fixture("opt_out"), "OptOutType": "START", "Body": "YES"}, "ignored:opt-in"),
        ({**fixture("opt_out"), "OptOutType": "HELP", "Body": "HILFE"}, "ignored:help"),
        ({**fixture("message"), "Body": "  "}, "ignored:empty"),
        ({**fixture("message"), "From": CONFIG["providerPhoneNumber"]}, "ignored:own"),
    ],
)
def test_what_must_not_be_answered_is_acknowledged_silently(fields: dict[str, str], kind: str) -> None:
    received = receive(CONFIG, signed(fields))
    assert (received.kind, received.events) == (kind, ())
    assert b"<Message>" not in received.answer.body


SENDER = fixture("message")["From"]
KEYWORDS = {
    "ignored:opt-out": (
        *("STOP", "STOPALL", "UNSUBSCRIBE", "END", "QUIT", "OPTOUT", "REVOKE"),
        *("STOP ALL", "OPT OUT", "OPT-OUT"),
    ),
    "ignored:opt-in": ("START", "UNSTOP"),
    "ignored:help": ("HELP", "INFO"),
}


@pytest.mark.parametrize("shape", ["{}", " {}\n", "{}.", "{}!", '"{}"', "{}\u200b", "*{}*", "\ufeff{}…"])
@pytest.mark.parametrize("case", [str.upper, str.lower, str.capitalize])
@pytest.mark.parametrize(("kind", "words"), KEYWORDS.items())
def test_a_keyword_of_the_carrier_is_not_handed_on(
    kind: str, words: tuple[str, ...], case: Callable[[str], str], shape: str
) -> None:
    for word in words:
        received = receive(CONFIG, signed({**fixture("message"), "Body": shape.format(case(word))}))
        assert (received.kind, received.events) == (kind, ())
        assert b"<Message>" not in received.answer.body


@pytest.mark.parametrize(
    ("fields", "opt_outs"),
    [
        ({"Body": "stop"}, (OptOut(SENDER),)),
        ({"Body": "ARRET", "OptOutType": "STOP"}, (OptOut(SENDER),)),
        ({"Body": "Start!"}, (OptOut(SENDER, over=True),)),
        ({"Body": "yes"}, (OptOut(SENDER, over=True),)),
        ({"Body": "OUI", "OptOutType": "START"}, (OptOut(SENDER, over=True),)),
        ({"Body": "help"}, ()),
        ({"Body": "yes please"}, ()),
        ({"Body": "cancel"}, ()),
    ],
)
def test_a_keyword_is_the_choice_of_its_sender(fields: dict[str, str], opt_outs: tuple[OptOut, ...]) -> None:
    assert receive(CONFIG, signed({**fixture("message"), **fields})).opt_outs == opt_outs


def test_a_message_is_acknowledged_without_a_text_where_that_is_switched_off() -> None:
    received = receive({**CONFIG, "acknowledge": False}, signed(fixture("message")))
    assert len(received.events) == 1
    assert received.answer.body.endswith(b"<Response></Response>")


@pytest.mark.parametrize(
    "text",
    [
        *(
            "stop please",
            "Stop the pump",
            "start now",
            "help?",
            "yes",
            "YES",
            "cancel",
            "Cancel.",
            "exit",
            "skip",
            "unstoppable",
        ),
        *("." * 50 + "stop", "stop ?", "s t o p"),
    ],
)
def test_what_is_no_keyword_or_answers_an_approval_is_a_message(text: str) -> None:
    (event,) = receive(CONFIG, signed({**fixture("message"), "Body": text})).events
    assert event.text == text


def test_another_network_has_no_keywords() -> None:
    fields = {**fixture("message"), "From": "whatsapp:+4915112345678", "Body": "help"}
    assert receive(CONFIG, signed(fields)).events
    assert not receive(CONFIG, signed({**fields, "OptOutType": "HELP"})).events


def test_a_whatsapp_address_proves_its_phone_number() -> None:
    (event,) = receive(CONFIG, signed({**fixture("message"), "From": "whatsapp:+4915112345678"})).events
    assert event.sender.identities == (Identity("phone", "+4915112345678"),)
    assert event.target["to"] == "whatsapp:+4915112345678"


def test_a_short_code_proves_no_phone_number() -> None:
    (event,) = receive(CONFIG, signed({**fixture("message"), "From": "12345"})).events
    assert event.sender.identities == ()


def test_a_message_without_a_sender_is_refused() -> None:
    with pytest.raises(Invalid):
        receive(CONFIG, signed({**fixture("message"), "From": ""}))


# --- hostile input

NAMES = st.sampled_from([*fixture("message_with_pictures"), "MessageStatus", "OptOutType", "ErrorCode", "x"])


@given(st.dictionaries(NAMES, st.text(max_size=40)))
def test_any_form_of_our_account_is_read_or_refused(fields: dict[str, str]) -> None:
    request = call(form={**fields, "AccountSid": ACCOUNT})
    assert parse_qsl(request.body.decode())
    try:
        received = receive(CONFIG, request)
    except Refusal:
        return
    for event in received.events:
        assert event.session_id
        json.dumps([event.text, dict(event.target)]).encode()


@given(
    st.binary(max_size=200), st.sampled_from(["application/json", "application/x-www-form-urlencoded", ""])
)
def test_any_bytes_are_refused(body: bytes, content_type: str) -> None:
    headers = {"content-type": content_type, "x-twilio-signature": "x"}
    with pytest.raises(Refusal):
        receive(CONFIG, call(body=body, headers=headers))
