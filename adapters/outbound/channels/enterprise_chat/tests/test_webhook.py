"""What the Bot Framework calls with: the token in every way it can be wrong, and every kind of activity."""

import base64
import json
from collections.abc import Mapping
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.channels.enterprise_chat import config as models
from adapters.outbound.channels.enterprise_chat import webhook
from adapters.outbound.channels.tests.support import NOW, call
from domain.channels.context import bounded
from domain.channels.messages import ChannelMetadata, Event, Identity, Quoted, RawCall, Received
from domain.refusals import Forbidden, Invalid, NotFound, Refusal, Unauthenticated, Unavailable
from ports.capabilities import StaleMetadata
from tests.support.platforms.teams import APP_ID, ISSUER, KID, private_key, public_jwk, token


def receive(
    config: Mapping[str, Any], given: RawCall, metadata: Mapping[str, Any], now: datetime
) -> Received:
    return webhook.receive(models.CONFIG.load(config), given, metadata, now)


FIXTURES = Path(__file__).parents[1] / "fixtures"
CONFIG = {"appId": APP_ID, "appPassword": "x"}
SERVICE = "https://smba.trafficmanager.net/emea/"
CONVERSATION = "a:1kQ7mZ3xW9pT4nLs8RcGd2HfJv6Yb"


def known(*keys: dict[str, Any]) -> ChannelMetadata:
    return {"issuer": ISSUER, "keys": list(keys) or [public_jwk()]}


def fixture(name: str, /, **changes: Any) -> dict[str, Any]:
    return {**json.loads((FIXTURES / f"{name}.json").read_text()), **changes}


def signed(activity: dict[str, Any], **options: Any) -> RawCall:
    return call(as_json=activity, headers={"Authorization": f"Bearer {token(NOW, SERVICE, **options)}"})


def read(activity: dict[str, Any]) -> Received:
    return receive(CONFIG, signed(activity), known(), NOW)


def event(activity: dict[str, Any]) -> Event:
    (found,) = read(activity).events
    return found


# --- proof of origin


def test_takes_a_call_that_the_bot_framework_signed() -> None:
    received = read(fixture("message_personal"))
    assert received.missing_proof_field is None
    assert (received.answer.status, received.answer.body) == (200, b"")
    assert len(received.events) == 1


@pytest.mark.parametrize(
    "options",
    [
        {"aud": "another-app"},
        {"aud": ["another-app"]},
        {"aud": None},
        {"drop": ("aud",)},
        {"iss": "https://evil.example"},
        {"iss": "https://sts.windows.net/7d1d8a4c-52c2-4a0f-8f2f-3a9b8d0c6e55/"},
        {"drop": ("iss",)},
        {"drop": ("exp",)},
        {"exp": (NOW - timedelta(seconds=301)).timestamp()},
        {"nbf": (NOW + timedelta(seconds=301)).timestamp()},
        {"exp": True},
        {"key": private_key("another key")},
    ],
)
def test_refuses_a_wrong_token(options: dict[str, Any]) -> None:
    with pytest.raises(Unauthenticated):
        receive(CONFIG, signed(fixture("message_personal"), **options), known(), NOW)


@pytest.mark.parametrize(
    "options",
    [
        {"exp": (NOW - timedelta(seconds=299)).timestamp()},
        {"nbf": (NOW + timedelta(seconds=299)).timestamp()},
        {"aud": ["another-app", APP_ID]},
        {"drop": ("nbf",)},
    ],
)
def test_clocks_may_differ_by_five_minutes(options: dict[str, Any]) -> None:
    assert receive(CONFIG, signed(fixture("message_personal"), **options), known(), NOW).events


@pytest.mark.parametrize(
    "value",
    [
        None,
        "",
        "Bearer",
        "Bearer ",
        "Basic YTpi",
        "Bearer not.a.token",
        "Bearer a.b",
        "Bearer \N{SNOWMAN}",
        "Bearer " + "x" * 20_000,
    ],
)
def test_refuses_a_call_without_a_token(value: str | None) -> None:
    headers = {} if value is None else {"authorization": value}
    with pytest.raises(Unauthenticated):
        receive(CONFIG, call(as_json=fixture("message_personal"), headers=headers), known(), NOW)


def unsigned() -> str:
    return jwt.encode(
        {"aud": APP_ID, "iss": ISSUER, "serviceurl": SERVICE, "exp": 9_999_999_999},
        None,
        algorithm="none",
        headers={"kid": KID},
    )


def signed_with_the_public_key() -> str:
    """The classic confusion: the public key taken for the secret of an HMAC."""
    pem = private_key().public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo)
    head = base64.urlsafe_b64encode(json.dumps({"alg": "HS256", "kid": KID, "typ": "JWT"}).encode()).rstrip(
        b"="
    )
    claims = {"aud": APP_ID, "iss": ISSUER, "serviceurl": SERVICE, "exp": 9_999_999_999}
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).rstrip(b"=")
    mac = jwt.algorithms.HMACAlgorithm(jwt.algorithms.HMACAlgorithm.SHA256).sign(head + b"." + body, pem)
    return b".".join([head, body, base64.urlsafe_b64encode(mac).rstrip(b"=")]).decode()


@pytest.mark.parametrize("forge", [unsigned, signed_with_the_public_key])
def test_refuses_another_algorithm(forge: Any) -> None:
    request = call(as_json=fixture("message_personal"), headers={"authorization": f"Bearer {forge()}"})
    with pytest.raises(Unauthenticated):
        receive(CONFIG, request, known(), NOW)


def test_refuses_an_elliptic_key() -> None:
    key = ec.generate_private_key(ec.SECP256R1())
    with pytest.raises(Unauthenticated):
        receive(CONFIG, signed(fixture("message_personal"), key=key, algorithm="ES256"), known(), NOW)


def test_an_unknown_key_says_that_the_metadata_may_be_old() -> None:
    with pytest.raises(StaleMetadata):
        receive(CONFIG, signed(fixture("message_personal"), kid="key-2"), known(), NOW)
    assert receive(
        CONFIG, signed(fixture("message_personal"), kid="key-2"), known(public_jwk("key-2")), NOW
    ).events


@pytest.mark.parametrize(
    "fetch_metadata",
    [{}, {"keys": []}, {"issuer": ISSUER, "keys": "x"}, {"keys": [{"kty": "EC", "kid": KID}]}],
)
def test_without_keys_the_call_is_put_off(fetch_metadata: ChannelMetadata) -> None:
    with pytest.raises(Unavailable):
        receive(CONFIG, signed(fixture("message_personal")), fetch_metadata, NOW)


@pytest.mark.parametrize("jwk", [{"kty": "RSA", "kid": KID}, {"kty": "RSA", "kid": KID, "n": 5, "e": "AQAB"}])
def test_a_broken_key_proves_nothing(jwk: dict[str, Any]) -> None:
    with pytest.raises(Unauthenticated):
        receive(CONFIG, signed(fixture("message_personal")), known(jwk), NOW)


@pytest.mark.parametrize(
    ("activity", "options"),
    [
        ({"serviceUrl": "https://evil.example/"}, {}),
        ({"serviceUrl": None}, {}),
        ({}, {"drop": ("serviceurl",)}),
        ({}, {"serviceurl": ""}),
        ({"channelId": "webchat"}, {}),
        ({"channelId": None}, {}),
    ],
)
def test_a_token_is_bound_to_service_url_and_channel(
    activity: dict[str, Any], options: dict[str, Any]
) -> None:
    with pytest.raises(Forbidden):
        receive(CONFIG, signed(fixture("message_personal", **activity), **options), known(), NOW)


def test_a_slash_at_the_end_of_the_service_url_does_not_matter() -> None:
    activity = fixture("message_personal", serviceUrl=SERVICE.rstrip("/"))
    assert receive(CONFIG, signed(activity), known(), NOW).events


def test_a_key_without_endorsements_speaks_for_every_channel() -> None:
    assert receive(
        CONFIG, signed(fixture("message_personal")), known(public_jwk(endorsements=None)), NOW
    ).events


def test_without_an_app_id_a_call_counts_as_unproved() -> None:
    received = receive(
        {"webhookUrl": "https://x.example"}, call(as_json=fixture("message_personal")), {}, NOW
    )
    assert received.missing_proof_field == "appId"
    assert len(received.events) == 1


def test_only_posts_to_the_webhook_are_read() -> None:
    with pytest.raises(NotFound):
        receive({}, call(as_json=fixture("message_personal"), callback="x"), {}, NOW)
    with pytest.raises(Invalid):
        receive({}, call(method="GET"), {}, NOW)


# --- messages


def test_a_message_becomes_an_event() -> None:
    found = event(fixture("message_personal"))
    assert found.key == f"{CONVERSATION}:1795176001234"
    assert found.session_id == CONVERSATION
    assert found.text == "Is the hall free on Friday?"
    assert found.sender.external_id == "5f0c2f5e-3d1b-4a6e-9a70-0d7b1f0c4e11"
    assert found.sender.display_name == "Maria Berg"
    assert found.sender.identities == (
        Identity("enterprise-chat", "5f0c2f5e-3d1b-4a6e-9a70-0d7b1f0c4e11"),
        Identity("enterprise-chat", "29:1aVq8Xw0pT3nLk7sRz2YcGd5HfJ"),
    )
    assert found.is_direct
    assert found.target["serviceUrl"] == SERVICE
    assert found.target["replyTo"] == "1795176001234"
    assert found.choice is None


def test_the_bots_mention_is_taken_out_and_others_stay_as_names() -> None:
    found = event(fixture("message_channel_mention"))
    assert found.text == "ask Jonas Weber about the hall"
    assert not found.is_direct
    assert found.attachments == ()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<at>Workshop Bot</at> hi", "hi"),
        ('<at id="0">Workshop Bot</at> hi', "hi"),
        ("hi <at>Workshop Bot</at>!", "hi !"),
        ("<at>Somebody</at> hi", "Somebody hi"),
        ("<at>Workshop Bot</at>  fix\nif a:\n    return  1", "fix\nif a:\n    return  1"),
        ("a < b <at> c", "a < b <at> c"),
    ],
)
def test_a_mention_is_known_by_its_tag_when_no_entity_names_it(text: str, expected: str) -> None:
    assert event(fixture("message_personal", text=text, entities=[])).text == expected


def test_files_and_pictures_come_as_attachments() -> None:
    found = event(fixture("message_with_files"))
    assert found.text == ""
    assert [(each.name, each.mime_type, each.source["url"][:40]) for each in found.attachments] == [
        ("plan.pdf", "application/pdf", "https://workshop-my.sharepoint.example/_"),
        ("file-2.png", "image/png", "https://smba.trafficmanager.net/emea/v3/"),
    ]


@pytest.mark.parametrize(
    ("changes", "kind"),
    [
        ({"from": {"id": "28:another-bot"}}, "ignored:bot"),
        ({"from": {"id": "28:0d6f4c1e-8b7a-4f3e-9c2d-1a5b6c7d8e9f"}}, "ignored:bot"),
        ({"from": {"id": "x", "role": "bot"}}, "ignored:bot"),
        ({"from": {"id": "x"}, "recipient": {"id": "x"}}, "ignored:bot"),
        ({"text": " "}, "ignored:empty"),
        ({"text": "<at>Workshop Bot</at>"}, "ignored:empty"),
        ({"type": "typing"}, "ignored:typing"),
        ({"type": "messageReaction"}, "ignored:messageReaction"),
        ({"type": "something new"}, "ignored:other"),
        ({"type": None}, "ignored:other"),
    ],
)
def test_what_is_no_message_of_a_person_is_acknowledged_and_ignored(
    changes: dict[str, Any], kind: str
) -> None:
    received = read(fixture("message_personal", **changes))
    assert (received.kind, received.events, received.answer.status) == (kind, (), 200)


def test_being_added_to_a_conversation_is_ignored() -> None:
    assert read(fixture("conversation_update")).kind == "ignored:conversationUpdate"


@pytest.mark.parametrize("changes", [{"conversation": {}}, {"from": {}}, {"from": None}])
def test_a_message_from_nowhere_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(Invalid):
        read(fixture("message_personal", **changes))


# --- buttons


def test_a_pressed_button_is_a_choice() -> None:
    received = read(fixture("invoke_choice"))
    (found,) = received.events
    assert (found.choice, found.text) == ("approve:9f2c", "Approve")
    assert found.key == f"{CONVERSATION}:f:5b1d0c9e-7a34-4c11-8d5f-2e6a90c4d7b3"
    assert found.target["prompt"] == "1795176003999"
    assert received.kind == "action"
    assert json.loads(received.answer.body) == {
        "statusCode": 200,
        "type": "application/vnd.microsoft.activity.message",
        "value": "Received.",
    }
    assert received.answer.headers["content-type"] == "application/json"


def test_a_submitted_card_is_a_choice() -> None:
    found = event(fixture("message_submit"))
    assert (found.choice, found.text) == ("reject:9f2c", "Reject")
    assert found.target["prompt"] == "1795176003999"


@pytest.mark.parametrize(
    ("action", "expected"),
    [
        ({"type": "Action.Execute", "verb": "approve", "data": {"c": 1}}, "approve"),
        ({"type": "Action.Execute", "data": {"c": 1, "msteams": {}}}, '{"c": 1}'),
        ({"type": "Action.Execute", "verb": "approve"}, "approve"),
        ({"type": "Action.Execute", "verb": "x", "data": {"text": "Hello"}}, "Hello"),
    ],
)
def test_a_foreign_card_becomes_text(action: dict[str, Any], expected: str) -> None:
    found = event(fixture("invoke_choice", value={"action": action}))
    assert (found.choice, found.text) == (None, expected)


@pytest.mark.parametrize("value", [None, {}, {"action": {}}, {"action": []}, "x"])
def test_an_action_without_content_is_answered_as_teams_expects(value: Any) -> None:
    received = read(fixture("invoke_choice", value=value))
    assert (received.kind, received.events) == ("ignored:action", ())
    assert json.loads(received.answer.body)["type"] == "application/vnd.microsoft.error"


def test_another_invoke_is_acknowledged_and_ignored() -> None:
    received = read(fixture("invoke_choice", name="composeExtension/query"))
    assert (received.kind, received.events, received.answer.status) == ("ignored:invoke", (), 200)


# --- hostile input

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)
PATHS = st.sampled_from(
    [
        "from",
        "recipient",
        "conversation",
        "text",
        "entities",
        "attachments",
        "value",
        "id",
        "replyToId",
        "name",
    ]
)


@given(
    st.sampled_from(["message_channel_mention", "message_with_files", "invoke_choice"]),
    st.dictionaries(PATHS, JSON),
)
def test_any_activity_is_read_or_refused(name: str, changes: dict[str, Any]) -> None:
    try:
        received = receive({}, call(as_json=fixture(name, **changes)), {}, NOW)
    except Refusal:
        return
    for found in received.events:
        assert found.session_id
        assert json.dumps([dict(found.target), found.text, found.choice])


@given(st.binary(max_size=200))
def test_any_bytes_are_refused(body: bytes) -> None:
    with pytest.raises(Refusal):
        receive(CONFIG, call(body=body, headers={"authorization": "Bearer x"}), known(), NOW)


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=60))
def test_any_token_is_refused(head: str, claims: str, signature: str) -> None:
    encoded = (
        base64.urlsafe_b64encode(part.encode()).decode().rstrip("=") for part in (head, claims, signature)
    )
    headers = {"authorization": "Bearer " + ".".join(encoded)}
    with pytest.raises(Refusal):
        receive(CONFIG, call(as_json=fixture("message_personal"), headers=headers), known(), NOW)


# --- groups


def in_channel(settings: dict[str, Any], **changed: Any) -> Received:
    activity = {**fixture("message_channel_mention"), **changed}
    return receive({**settings}, call(as_json=activity), {}, NOW)


UNADDRESSED = {"text": "is it hot?", "entities": []}


@pytest.mark.parametrize(
    ("settings", "changed", "kind"),
    [
        ({}, {}, "message"),
        ({}, UNADDRESSED, "ignored:not-addressed"),
        ({"requireMention": False}, UNADDRESSED, "message"),
        ({}, {**UNADDRESSED, "value": {"choice": "c:1"}}, "message"),
        ({"allowedChannels": "19:other"}, {}, "ignored:channel"),
        ({"allowedChannels": "19:other, 19:team"}, {"channelData": {"team": {"id": "19:team"}}}, "message"),
    ],
)
def test_messages_of_channels(settings: dict[str, Any], changed: dict[str, Any], kind: str) -> None:
    assert in_channel(settings, **changed).kind == kind


def test_a_channel_is_allowed_by_its_id_whatever_the_thread() -> None:
    conversation = fixture("message_channel_mention")["conversation"]["id"].partition(";")[0]
    assert in_channel({"allowedChannels": conversation}).events


# --- what is replied to

REPLY = 'itemtype="http://schema.skype.com/Reply"'


def quoted(content: str) -> Quoted | None:
    attachments = [{"contentType": "text/html", "content": content}]
    return event(fixture("message_personal", attachments=attachments)).quoted


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (
            (
                f'<blockquote itemscope {REPLY}><strong itemprop="mri" itemid="8:x">Bob</strong>'
                '<p itemprop="preview">It is <b>hot</b> &amp; loud</p></blockquote><p itemprop="preview">Is it?</p>'
            ),
            Quoted("It is hot & loud", "Bob"),
        ),
        (
            f'<blockquote {REPLY}><p itemprop="copy">It is.</p></blockquote>',
            Quoted("It is."),
        ),
        (
            f'<blockquote {REPLY}><strong itemprop="mri" itemid="8:x"></strong><p itemprop="copy">a</p>',
            Quoted("a", "8:x"),
        ),
        (f"<blockquote {REPLY}></blockquote>", None),
        (f"<p>{REPLY}</p>", None),
        ("<blockquote>It is.</blockquote>", None),
        (f'<?xml version="1.0" encoding="utf-16"?><blockquote {REPLY}>', None),
        (f"<blockquote {REPLY}>" + "<div>" * 100_000, None),
        (f"\0\ud800<blockquote {REPLY}><p itemprop=copy>\0</p>", None),
    ],
)
def test_the_quotation_of_a_reply(content: str, expected: Quoted | None) -> None:
    assert quoted(content) == expected


def test_a_quoted_message_of_the_bot_is_the_resources() -> None:
    bot = fixture("message_personal")["recipient"]["id"]
    reply = {"preview": "It is hot.", "senderId": bot, "senderName": "Agent"}
    entities = [{"type": "quotedReply", "quotedReply": reply}]
    asked = event(fixture("message_personal", text='<quoted messageId="1"/> Why?', entities=entities))
    assert (asked.text, asked.quoted) == ("Why?", Quoted("It is hot.", "resource"))


@given(content=st.text(max_size=200))
def test_hostile_quotations_are_read(content: str) -> None:
    quoted(f"<blockquote {REPLY}>{content}")


def test_the_language_the_team_and_the_channel() -> None:
    channel = {"team": {"id": "19:t", "name": "Works"}, "channel": {"id": "19:c", "name": "Hall"}}
    client = {"type": "clientInfo", "locale": "de-DE", "timezone": "Europe/Berlin"}
    activity = fixture("message_channel_mention")
    activity |= {"channelData": channel, "entities": [*activity["entities"], client], "importance": "urgent"}
    (asked,) = webhook.read(activity).events
    assert bounded(asked.context) == {
        "language": "de-DE",
        "group": {"id": "19:c", "name": "Hall"},
        "platform": {
            "team": {"id": "19:t", "name": "Works"},
            "tenantId": activity["conversation"]["tenantId"],
            "timeZone": "Europe/Berlin",
            "importance": "urgent",
        },
    }


def test_the_data_of_a_card_of_another_program() -> None:
    submitted = fixture("message_personal") | {"text": "", "value": {"order": 7, "again": True}}
    (asked,) = webhook.read(submitted).events
    assert asked.context["payload"] == {"order": 7, "again": True}
    (pressed,) = webhook.read(fixture("invoke_choice")).events
    assert "payload" not in bounded(pressed.context)


# --- thumbs of Teams


@pytest.mark.parametrize(("reaction", "emoji"), [("like", "👍"), ("dislike", "👎")])
def test_a_thumb_of_teams_is_a_reaction_to_the_answer(reaction: str, emoji: str) -> None:
    value = {"actionName": "feedback", "actionValue": {"reaction": reaction, "feedback": "{}"}}
    received = read(fixture("invoke_choice", name="message/submitAction", value=value))
    (vote,) = received.events
    assert (vote.reaction, vote.text, vote.choice) == (emoji, "", None)
    assert vote.reacted_ref == "1795176003999"
    assert (received.answer.status, json.loads(received.answer.body)) == (200, {})


@pytest.mark.parametrize("content", [None, "x", [], {}, {"reaction": {}}, {"reaction": "x"}])
def test_another_submission_is_no_vote(content: Any) -> None:
    value = {"actionName": "feedback", "actionValue": content}
    received = read(fixture("invoke_choice", name="message/submitAction", value=value))
    assert (received.kind, received.events) == ("ignored:invoke", ())
