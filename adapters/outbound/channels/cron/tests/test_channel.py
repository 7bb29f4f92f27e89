"""Firing by the clock and by hand."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.channels.cron.channel import build
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import NOW, call, dependencies
from domain.channels.messages import RawCall, Received
from domain.refusals import Invalid, NotFound, Refusal, Unauthenticated

CONFIG = {"cronSchedule": "0 9 * * *", "message": "Good morning."}
SECRET = {**CONFIG, "triggerSecret": "open sesame"}
URL = "https://switchboard.example/api/agent/channels/cron/7/manual_trigger?x=1"

NO_HTTP: Any = object()
CRON = ChannelCalls(build(dependencies(NO_HTTP)))


def trigger(config: dict[str, Any], **options: Any) -> Received:
    request: RawCall = call(callback="manual_trigger", url=URL, **options)
    return CRON.receive(config, request, {}, NOW)


def test_has_the_capabilities_of_a_schedule() -> None:
    assert CRON.has("scheduler", "webhook")
    assert not CRON.has("sender")


def test_fires_at_the_wall_clock_of_its_zone() -> None:
    assert CRON.next_fire(CONFIG, NOW) == datetime(2026, 11, 21, 9, tzinfo=UTC)
    assert CRON.next_fire({**CONFIG, "timezone": "Asia/Tokyo"}, NOW) == datetime(2026, 11, 21, 0, tzinfo=UTC)
    assert CRON.next_fire({**CONFIG, "timezone": ""}, NOW) == datetime(2026, 11, 21, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("expression", "words"),
    [
        ("0 9 * * 1-5", "At 09:00 on Monday through Friday"),
        ("*/15 * * * *", "Every 15th minute of every hour"),
        ("0 0 LW * *", "At 00:00 on the last weekday of every month"),
        ("0 0 * * 5#2", "At 00:00 on the second Friday of the month"),
        ("0 0 * * 5l", "At 00:00 on the last Friday of the month"),
        ("5 4 * * fri-mon", "At 04:05 on Friday, Saturday, Sunday, and Monday"),
    ],
)
def test_an_expression_in_words(expression: str, words: str) -> None:
    assert CRON.timing({**CONFIG, "cronSchedule": expression}).description == words


@pytest.mark.parametrize(("enabled", "fires"), [(True, True), (None, True), (False, False)])
def test_fires_unless_it_is_disabled(enabled: bool | None, fires: bool) -> None:
    assert (CRON.next_fire({**CONFIG, "enabled": enabled}, NOW) is not None) == fires


@pytest.mark.parametrize(("one_shot", "once"), [(True, True), (False, False), (None, False)])
def test_fires_once_in_one_shot_mode(one_shot: bool | None, once: bool) -> None:
    assert CRON.fires_once({**CONFIG, "oneShot": one_shot}) == once


def test_a_firing_is_known_by_its_scheduled_time() -> None:
    event = CRON.fired(CONFIG, 7, NOW)
    assert (event.text, event.session_id) == ("Good morning.", "7")
    assert event.key == CRON.fired(CONFIG, 7, NOW).key
    assert event.key != CRON.fired(CONFIG, 7, NOW + timedelta(minutes=1)).key


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "DELETE"])
def test_any_method_triggers_it(method: str) -> None:
    received = trigger(CONFIG, method=method)
    (event,) = received.events
    assert (event.text, event.session_id, event.key) == ("Good morning.", "7", None)
    assert received.answer.status == 202
    assert json.loads(received.answer.body) == {"status": "accepted", "requestId": event.request_id}
    assert event.request_id == "00000000-0000-4000-8000-000000000000"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"message": "Now!"}, "Now!"),
        ({"message": ""}, "Good morning."),
        ({"message": None}, "Good morning."),
        ({}, "Good morning."),
    ],
)
def test_a_message_replaces_the_text_of_this_firing(body: dict[str, Any], text: str) -> None:
    assert trigger(CONFIG, as_json=body).events[0].text == text


def test_a_disabled_schedule_can_be_triggered() -> None:
    assert trigger({**CONFIG, "enabled": False}).events


@pytest.mark.parametrize("body", [b"hello", b"[]", b'{"message": 5}', b'{"message": ["a"]}', b"\xff"])
def test_another_body_is_refused(body: bytes) -> None:
    with pytest.raises(Invalid):
        trigger(CONFIG, body=body)


def test_the_secret_is_checked_when_there_is_one() -> None:
    assert trigger(SECRET, headers={"X-Webhook-Secret": "open sesame"}).events
    for headers in ({}, {"X-Webhook-Secret": ""}, {"X-Webhook-Secret": "open sesam"}):
        with pytest.raises(Unauthenticated):
            trigger(SECRET, headers=headers)


@pytest.mark.parametrize("callback", ["webhook", "manual_trigger2", ""])
def test_other_callbacks_do_not_exist(callback: str) -> None:
    with pytest.raises(NotFound):
        CRON.receive(CONFIG, call(callback=callback, url=URL), {}, NOW)


@given(st.binary(max_size=100))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    try:
        (event,) = trigger(CONFIG, body=body).events
    except Refusal:
        return
    assert event.text
