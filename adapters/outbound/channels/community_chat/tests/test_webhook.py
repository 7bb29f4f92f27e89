"""What Mattermost calls with: the token, both encodings, both kinds of call, and hostile input."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.channels.common.client import origin
from adapters.outbound.channels.community_chat import config as models
from adapters.outbound.channels.community_chat import webhook
from adapters.outbound.channels.tests.support import NOW, call
from domain.channels.context import bounded
from domain.channels.messages import Event, Identity, RawCall, Received
from domain.refusals import Invalid, NotFound, Refusal, Unauthenticated


def receive(config: Mapping[str, Any], given: RawCall, metadata: Mapping[str, Any]) -> Received:
    return webhook.receive(models.CONFIG.load(config), given, metadata, NOW)


FIXTURES = Path(__file__).parents[1] / "fixtures"
CONFIG = {
    "SERVER_URL": "https://chat.example",
    "channelId": "d4n8hq2xw7z1m5kfr9ty3bdjpa",
    "token": "t0kenoftheapiq9m4w8d2hr6tb",
    "webhookToken": "p7w4xk1mq9d3f8zrh6tbnc5yaj",
}
KNOWN = {"userId": "b1r5xk8mz2d7f4qhw9tbnc3yja", "username": "kitchen"}


def fixture(name: str, **changes: Any) -> dict[str, Any]:
    return {**json.loads((FIXTURES / f"{name}.json").read_text()), **changes}


def received(payload: dict[str, Any], **known: str) -> Received:
    return receive(CONFIG, call(as_json=payload), {**KNOWN, **known})


def event(payload: dict[str, Any]) -> Event:
    (found,) = received(payload).events
    return found


# --- proof of origin


@pytest.mark.parametrize("token", [CONFIG["token"], CONFIG["webhookToken"]])
def test_takes_the_token_of_the_webhook_and_that_of_the_api(token: str) -> None:
    assert received(fixture("outgoing_webhook", token=token)).events


@pytest.mark.parametrize("token", ["", "p7w4xk1mq9d3f8zrh6tbnc5yaJ", None, 5, ["x"], {"a": 1}, "\N{SNOWMAN}"])
def test_refuses_another_token(token: Any) -> None:
    with pytest.raises(Unauthenticated):
        received(fixture("outgoing_webhook", token=token))


def test_an_empty_webhook_token_matches_nothing() -> None:
    payload = fixture("outgoing_webhook", token="")
    with pytest.raises(Unauthenticated):
        receive({**CONFIG, "webhookToken": ""}, call(as_json=payload), KNOWN)


def test_the_token_does_not_stay_in_the_event() -> None:
    assert CONFIG["webhookToken"] not in json.dumps(dict(event(fixture("outgoing_webhook")).raw))


# --- kinds


def test_a_post_becomes_an_event() -> None:
    found = event(fixture("outgoing_webhook"))
    assert found.key == "p3z7kf1xq9m4w8d2hr6tbnc5ya"
    assert found.session_id == "c4n8hq2xw7z1m5kfr9ty3bdjpa:u1r5xk8mz2d7f4qhw9tbnc3yja"
    assert found.text == "ask what is on the menu?"
    assert found.sender.external_id == "u1r5xk8mz2d7f4qhw9tbnc3yja"
    assert found.sender.display_name == "maria"
    assert found.sender.identities == (Identity("community-chat", "u1r5xk8mz2d7f4qhw9tbnc3yja"),)
    assert found.target == {"channel": "c4n8hq2xw7z1m5kfr9ty3bdjpa"}
    assert [each.source for each in found.attachments] == [
        {"fileId": "f1x7kq9m4z2w8d3hr6tbnc5yaj"},
        {"fileId": "f2x7kq9m4z2w8d3hr6tbnc5yaj"},
    ]
    assert not found.is_direct


def test_the_answer_takes_the_call_and_posts_nothing() -> None:
    answer = received(fixture("outgoing_webhook")).answer
    assert (answer.status, answer.body) == (200, b"{}")
    assert answer.headers["content-type"] == "application/json"


@pytest.mark.parametrize(
    "content_type",
    ["application/x-www-form-urlencoded", "application/x-www-form-urlencoded; charset=utf-8", ""],
)
def test_reads_the_form_that_mattermost_sends_by_default(content_type: str) -> None:
    body = urlencode(fixture("outgoing_webhook_form")).encode()
    found = receive(CONFIG, call(body=body, headers={"content-type": content_type}), KNOWN)
    assert found.events[0].text == "what is on the menu?"
    assert found.events[0].attachments == ()


def test_reads_json_without_a_content_type() -> None:
    body = json.dumps(fixture("outgoing_webhook")).encode()
    assert receive(CONFIG, call(body=body), KNOWN).events


def test_a_slash_command_is_answered_at_its_response_url() -> None:
    found = event(fixture("slash_command"))
    assert found.text == "for tomorrow"
    assert found.key == "MTIzNDU2Nzg5MDEyMzQ1Njc4OTAxMjM0NTY3ODk6dTpl"
    assert found.target["responseUrl"] == "https://chat.example/hooks/commands/r8x2mf7qb4w1z8n5r3ty6hcjda"


def test_a_slash_command_may_come_by_get() -> None:
    url = f"https://switchboard.example/webhook?{urlencode(fixture('slash_command'))}"
    assert receive(CONFIG, call(method="GET", url=url), KNOWN).events[0].text == "for tomorrow"


@pytest.mark.parametrize(
    "url",
    [
        "https://evil.example/hooks",
        "http://chat.example/hooks",
        "https://chat.example:8443/hooks",
        "https://chat.example@evil.example/hooks",
        "https://user@chat.example/hooks",
        "https://chat.example.evil.example/",
        "//chat.example/hooks",
        "https://[",
        "javascript:alert(1)",
        "",
    ],
)
def test_a_response_url_elsewhere_is_not_used(url: str) -> None:
    assert "responseUrl" not in event(fixture("slash_command", response_url=url)).target


def test_the_default_port_is_the_same_origin() -> None:
    assert origin("https://CHAT.example:443/x") == origin("https://chat.example")


def test_an_answer_goes_to_the_configured_channel_when_the_payload_names_none() -> None:
    found = event(fixture("outgoing_webhook", channel_id=""))
    assert found.target["channel"] == CONFIG["channelId"]


def test_a_direct_channel_is_known_by_its_name() -> None:
    assert event(fixture("slash_command", channel_name="b1r5__u1r5")).is_direct


@pytest.mark.parametrize(
    ("text", "trigger", "expected"),
    [
        ("@kitchen hello", "", "hello"),
        ("@Kitchen: hello", "", "hello"),
        ("hello @kitchen", "", "hello"),
        ("hello @kitchen.", "", "hello ."),
        ("@kitchens hello", "", "@kitchens hello"),
        ("@kitchen.staff hello", "", "@kitchen.staff hello"),
        ("a@kitchen hello", "", "a@kitchen hello"),
        ("@cook hello", "@cook", "hello"),
        ("cook hello", "cook", "cook hello"),
    ],
)
def test_the_mention_of_the_bot_is_taken_out(text: str, trigger: str, expected: str) -> None:
    assert event(fixture("outgoing_webhook", text=text, trigger_word=trigger)).text == expected


# --- what is not answered


def test_the_bots_own_posts_are_ignored() -> None:
    found = received(fixture("outgoing_webhook"), userId="u1r5xk8mz2d7f4qhw9tbnc3yja")
    assert (found.kind, found.events, found.answer.body) == ("ignored:own", (), b"{}")


def test_without_metadata_posts_are_read_all_the_same() -> None:
    assert receive(CONFIG, call(as_json=fixture("outgoing_webhook")), {}).events


def test_a_post_without_content_is_ignored() -> None:
    found = received(fixture("outgoing_webhook", text="@kitchen", trigger_word="", file_ids=""))
    assert (found.kind, found.events) == ("ignored:empty", ())


def test_a_file_alone_is_a_message() -> None:
    assert event(fixture("outgoing_webhook", text="")).attachments


def test_a_call_without_a_user_is_refused() -> None:
    with pytest.raises(Invalid, match="user_id"):
        received(fixture("outgoing_webhook", user_id=""))


def test_other_callbacks_do_not_exist() -> None:
    with pytest.raises(NotFound):
        receive(CONFIG, call(as_json=fixture("outgoing_webhook"), callback="other"), KNOWN)


# --- hostile input

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from([*fixture("outgoing_webhook"), "response_url", "root_id"]), JSON))
def test_any_payload_with_our_token_is_read_or_refused(fields: dict[str, Any]) -> None:
    try:
        found = received({**fields, "token": CONFIG["token"]})
    except Refusal:
        return
    for each in found.events:
        assert each.session_id
        assert json.dumps([dict(each.target), each.text, [dict(a.source) for a in each.attachments]])


@given(st.binary(max_size=100), st.sampled_from(["application/json", "text/plain", ""]))
def test_any_bytes_are_refused(body: bytes, content_type: str) -> None:
    with pytest.raises(Refusal):
        receive(CONFIG, call(body=body, headers={"content-type": content_type}), KNOWN)


def test_an_answer_goes_into_a_thread_below_the_post() -> None:
    post = fixture("outgoing_webhook")
    config = {**CONFIG, "replyInThread": True}
    (asked,) = receive(config, call(as_json=post), {}).events
    assert asked.session_id == f"{post['channel_id']}:{post['post_id']}"
    assert asked.target["root"] == post["post_id"]
    assert (asked.quoted, asked.thread_post) == (None, "")


def test_a_message_in_a_channel_that_is_not_allowed_is_refused() -> None:
    ignored = receive({**CONFIG, "allowedChannels": "c1"}, call(as_json=fixture("outgoing_webhook")), {})
    assert ([event.refused for event in ignored.events], ignored.kind) == (["channel"], "ignored:channel")


def test_the_channel_the_team_and_what_called_the_bot() -> None:
    post = fixture("outgoing_webhook", trigger_word="engine")
    (posted,) = receive(CONFIG, call(as_json=post), KNOWN).events
    context = bounded(posted.context)
    assert context["group"] == {"id": post["channel_id"], "name": post["channel_name"]}
    assert context["platform"] == {"team": post["team_domain"], "triggerWord": "engine"}
    command = fixture("slash_command")
    (called,) = receive(CONFIG, call(form=command), KNOWN).events
    assert called.context["command"] == command["command"].removeprefix("/")


@pytest.mark.parametrize(
    ("connection", "name", "is_partial"),
    [
        ("socket", "outgoing_webhook", True),
        ("socket", "slash_command", False),
        ("webhook", "outgoing_webhook", False),
    ],
)
def test_the_thread_and_the_files_of_a_post_may_follow_over_the_websocket(
    connection: str, name: str, is_partial: bool
) -> None:
    """A command comes by its own call alone."""
    body = fixture(name) | {"token": CONFIG["webhookToken"]}
    posted = call(form=body) if name == "slash_command" else call(as_json=body)
    (asked,) = receive({**CONFIG, "connection": connection}, posted, {}).events
    assert asked.is_partial == is_partial


def test_what_programs_attach_to_a_post_is_read() -> None:
    log = "https://ci.example/1"
    again = {"id": "a", "name": "Again", "type": "button", "integration": {"url": "https://ci.example"}}
    attachments = [
        {"title": "Build failed", "title_link": log, "fields": [{"title": "Host", "value": "db1"}]},
        {"actions": [again]},
    ]
    post = {"message": "", "props": {"attachments": attachments}}
    assert webhook.shown_in(post) == f"Build failed ({log})\nHost: db1"
    assert webhook.shown_in({"message": "Hello", "props": {}}) == "Hello"
