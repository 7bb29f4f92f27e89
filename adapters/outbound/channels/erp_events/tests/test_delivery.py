"""Notes on records of an Odoo of our own, and signed events at an address."""

import asyncio
import contextlib
import hashlib
import hmac
from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.outbound.channels.erp_events.channel import build
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import NOW, client, dependencies
from domain.channels.answers import Answer, Artifact
from domain.channels.messages import Outcome, Sent
from domain.delivery.concurrency import ConcurrencyLimiter, ReadLimiter, known_limits
from domain.delivery.model import account_key
from domain.instances.model import Instance
from tests.support.platforms.odoo import DATABASE, KEY, LOGIN, Odoo
from tests.support.platforms.standin import Reply, Seen, StandIn

PDF = Artifact("offer <1>.pdf", "application/pdf", "https://switchboard.example/files/1?a=1&b=2")


class Receiver(StandIn):
    """Takes what is posted to webhookUrl."""

    def answer(self, seen: Seen) -> Reply:
        return Reply(204)


@pytest.fixture(params=["jsonrpc", "json/2"])
async def odoo(request: pytest.FixtureRequest) -> AsyncIterator[ChannelCalls]:
    async with Odoo.run(has_json_rpc=request.param == "jsonrpc") as platform:
        platform.make("Workshop GmbH")
        platform.make("Plain", "x.plain")
        yield platform


@pytest.fixture
async def channel() -> AsyncIterator[ChannelCalls]:
    async with client() as http:
        yield ChannelCalls(build(dependencies(http)))


@pytest.fixture
def config(odoo: Odoo) -> dict[str, Any]:
    return {
        "erpUrl": odoo.url,
        "database": DATABASE,
        "username": LOGIN,
        "password": KEY,
        "models": "res.partner",
        "events": "write",
    }


def target(**changes: Any) -> dict[str, Any]:
    record = {"id": 1, "name": "Workshop GmbH \N{EURO SIGN}"}
    key = "res.partner:1:2026-11-20 09:00:00:write"
    return {"model": "res.partner", "recordId": 1, "event": "write", "key": key, "record": record, **changes}


async def deliver(
    channel: ChannelCalls, config: dict[str, Any], where: dict[str, Any], answer: Answer
) -> list[Sent]:
    messages = channel.render(config, where, answer)
    return [await channel.send(config, where, message, "key") for message in messages]


async def test_the_answer_is_a_note_on_the_record(
    channel: ChannelCalls, odoo: Odoo, config: dict[str, Any]
) -> None:
    (sent,) = await deliver(channel, config, target(), Answer("**Call** them\n\n- a & b", (PDF,)))
    assert (sent.outcome, sent.ref) == (Outcome.SENT, "901")
    ((model, record_id, note),) = odoo.notes
    assert (model, record_id) == ("res.partner", 1)
    assert (note["message_type"], note["subtype_xmlid"]) == ("comment", "mail.mt_note")
    assert "<strong>Call</strong>" in note["body"]
    assert "<li>a &amp; b</li>" in note["body"]
    assert '<a href="https://switchboard.example/files/1?a=1&amp;b=2">offer &lt;1&gt;.pdf</a>' in note["body"]
    assert "<html" not in note["body"]
    assert note["body_is_html"] is True


async def test_older_servers_take_html_without_being_told(
    channel: ChannelCalls, odoo: Odoo, config: dict[str, Any]
) -> None:
    odoo.version = 16
    (sent,) = await deliver(channel, config, target(), Answer("**Call**"))
    assert sent.outcome is Outcome.SENT
    assert "body_is_html" not in odoo.notes[0][2]


async def test_html_in_an_answer_is_not_html_in_the_note(
    channel: ChannelCalls, odoo: Odoo, config: dict[str, Any]
) -> None:
    await deliver(channel, config, target(), Answer("<script>alert(1)</script>"))
    assert "<script" not in odoo.notes[0][2]["body"]


async def test_a_model_without_notes_is_survived(
    channel: ChannelCalls, odoo: Odoo, config: dict[str, Any]
) -> None:
    (sent,) = await deliver(channel, config, target(model="x.plain"), Answer("Hello"))
    assert sent.outcome is Outcome.PERMANENT
    assert "no notes" in sent.detail


async def test_a_record_that_is_gone_is_survived(
    channel: ChannelCalls, odoo: Odoo, config: dict[str, Any]
) -> None:
    odoo.remove(1)
    (sent,) = await deliver(channel, config, target(), Answer("Hello"))
    assert sent.outcome is Outcome.PERMANENT


async def test_a_deleted_record_gets_no_note(channel: ChannelCalls, config: dict[str, Any]) -> None:
    assert channel.render(config, target(event="unlink"), Answer("Hello")) == []
    assert channel.render(config, {}, Answer("Hello")) == []


async def test_wrong_credentials_are_final(channel: ChannelCalls, odoo: Odoo, config: dict[str, Any]) -> None:
    (sent,) = await deliver(channel, {**config, "password": "wrong-key"}, target(), Answer("Hello"))
    assert sent.outcome is Outcome.PERMANENT
    assert "wrong-key" not in sent.detail


@pytest.mark.parametrize(("status", "outcome"), [(500, Outcome.TRANSIENT), (429, Outcome.RETRY_AFTER)])
async def test_a_busy_server_is_tried_again(
    channel: ChannelCalls, odoo: Odoo, config: dict[str, Any], status: int, outcome: Outcome
) -> None:
    odoo.next_reply(status, body=b"busy", **({"retry_after": "4"} if status == 429 else {}))
    (sent,) = await deliver(channel, config, target(), Answer("Hello"))
    assert sent.outcome is outcome
    assert odoo.notes == []


async def test_a_connection_that_breaks_leaves_the_outcome_unknown(
    channel: ChannelCalls, odoo: Odoo, config: dict[str, Any]
) -> None:
    odoo.drop()
    (sent,) = await deliver(channel, config, target(), Answer("Hello"))
    assert sent.outcome is Outcome.UNKNOWN


async def test_a_server_that_is_away_is_tried_again(channel: ChannelCalls, config: dict[str, Any]) -> None:
    (sent,) = await deliver(channel, {**config, "erpUrl": "http://127.0.0.1:1"}, target(), Answer("Hello"))
    assert sent.outcome is Outcome.TRANSIENT


async def test_each_event_is_posted_and_signed(
    channel: ChannelCalls, odoo: Odoo, config: dict[str, Any]
) -> None:
    async with Receiver.run() as receiver:
        config = {**config, "webhookUrl": f"{receiver.url}/events"}
        note, event = await deliver(channel, config, target(), Answer("Hello"))
        assert (note.outcome, event.outcome) == (Outcome.SENT, Outcome.SENT)
        (seen,) = receiver.seen
    assert seen.json == {
        "event": "write",
        "model": "res.partner",
        "recordId": 1,
        "record": {"id": 1, "name": "Workshop GmbH \N{EURO SIGN}"},
    }
    assert seen.headers["content-type"] == "application/json"
    assert seen.headers["webhook-id"] == "res.partner:1:2026-11-20 09:00:00:write"
    assert seen.headers["webhook-timestamp"] == str(int(NOW.timestamp()))
    key = hashlib.sha256(KEY.encode()).hexdigest().encode()
    expected = hmac.new(key, seen.body, hashlib.sha256).hexdigest()
    assert seen.headers["x-webhook-signature"] == f"sha256={expected}"


async def test_a_deletion_is_posted_too(channel: ChannelCalls, config: dict[str, Any]) -> None:
    async with Receiver.run() as receiver:
        config = {**config, "webhookUrl": receiver.url}
        await deliver(channel, config, target(event="unlink", record={"id": 1}), Answer("Hello"))
        assert [seen.json["event"] for seen in receiver.seen] == ["unlink"]


@pytest.mark.parametrize(
    ("status", "outcome"),
    [
        (410, Outcome.PERMANENT),
        (302, Outcome.PERMANENT),
        (503, Outcome.TRANSIENT),
        (429, Outcome.RETRY_AFTER),
    ],
)
async def test_trouble_at_the_address_is_told_apart(
    channel: ChannelCalls, config: dict[str, Any], status: int, outcome: Outcome
) -> None:
    async with Receiver.run() as receiver:
        receiver.next_reply(status)
        config = {**config, "webhookUrl": receiver.url}
        (sent,) = await deliver(channel, config, target(event="unlink"), Answer("Hello"))
    assert sent.outcome is outcome


async def test_a_pool_that_is_full_is_tried_again(
    channel: ChannelCalls, odoo: Odoo, config: dict[str, Any]
) -> None:
    with contextlib.ExitStack() as others:
        for _ in range(odoo.pool):
            others.enter_context(odoo.connection())
        (full,) = await deliver(channel, config, target(), Answer("Hello"))
    (sent,) = await deliver(channel, config, target(), Answer("Hello"))
    assert (full.outcome, sent.outcome) == (Outcome.TRANSIENT, Outcome.SENT)
    assert "Connection Pool Is Full" in full.detail


async def test_a_maintenance_page_is_no_answer_of_odoo(
    channel: ChannelCalls, odoo: Odoo, config: dict[str, Any]
) -> None:
    if not odoo.has_json_rpc:
        odoo.next_reply(404)
    odoo.next_reply(200, body=b"<h1>We are back soon</h1>")
    (sent,) = await deliver(channel, config, target(), Answer("Hello"))
    assert sent.outcome is Outcome.TRANSIENT
    assert "We are back soon" in sent.detail


async def test_a_good_answer_without_a_result_is_no_note(
    channel: ChannelCalls, odoo: Odoo, config: dict[str, Any]
) -> None:
    if not odoo.has_json_rpc:
        odoo.next_reply(404)
    odoo.next_reply(200, body=b"{}" if odoo.has_json_rpc else b"null")
    (sent,) = await deliver(channel, config, target(), Answer("Hello"))
    assert sent.outcome is Outcome.TRANSIENT
    assert odoo.notes == []


async def test_a_user_signs_in_once_for_many_notes_and_polls(
    channel: ChannelCalls, odoo: Odoo, config: dict[str, Any]
) -> None:
    await deliver(channel, config, target(), Answer("One"))
    before = len(odoo.seen)
    for number in range(5):
        await deliver(channel, config, target(), Answer(f"Note {number}"))
    assert len(odoo.seen) - before == 5
    await channel.poll(config, None, NOW, NOW)
    assert (
        sum("authenticate" in seen.body.decode() for seen in odoo.seen) == 1
    )  # where there is no JSON-RPC it is tried
    assert len(odoo.notes) == 6


async def test_notes_of_one_moment_share_one_sign_in(
    channel: ChannelCalls, odoo: Odoo, config: dict[str, Any]
) -> None:
    odoo.seconds = 0.01
    await asyncio.gather(*(deliver(channel, config, target(), Answer(f"Note {n}")) for n in range(5)))
    assert len(odoo.notes) == 5
    assert (
        sum(b"authenticate" in seen.body for seen in odoo.seen) == 1
    )  # where there is no JSON-RPC it is tried


async def test_users_of_one_server_have_sessions_of_their_own(
    channel: ChannelCalls, odoo: Odoo, config: dict[str, Any]
) -> None:
    (sent,) = await deliver(channel, config, target(), Answer("Mine"))
    (other,) = await deliver(channel, {**config, "password": "wrong-key"}, target(), Answer("Not mine"))
    assert (sent.outcome, other.outcome) == (Outcome.SENT, Outcome.PERMANENT)
    assert len(odoo.notes) == 1


async def test_a_session_that_odoo_no_longer_takes_is_begun_anew(
    channel: ChannelCalls, odoo: Odoo, config: dict[str, Any]
) -> None:
    await deliver(channel, config, target(), Answer("One"))
    denied = {"name": "odoo.exceptions.AccessDenied", "message": "Access Denied"}
    if odoo.has_json_rpc:
        odoo.next_reply(200, json={"error": {"data": denied}})
    else:
        odoo.next_reply(401, json=denied)
    (sent,) = await deliver(channel, config, target(), Answer("Two"))
    assert sent.outcome is Outcome.SENT
    assert len(odoo.notes) == 2


@pytest.mark.parametrize("status", [200, 401])
async def test_a_session_that_ended_is_begun_anew(
    channel: ChannelCalls, odoo: Odoo, config: dict[str, Any], status: int
) -> None:
    """Odoo tells so with status 200; a server in front of it has no JSON-RPC."""
    await deliver(channel, config, target(), Answer("One"))
    expired = {"name": "odoo.http.SessionExpiredException", "message": "Session expired"}
    if not odoo.has_json_rpc:
        odoo.next_reply(401, json=expired)
    elif status == 200:
        odoo.next_reply(
            200, json={"error": {"code": 100, "message": "Odoo Session Expired", "data": expired}}
        )
    else:
        odoo.next_reply(401, body=b"Session expired")
    (sent,) = await deliver(channel, config, target(), Answer("Two"))
    assert (sent.outcome, len(odoo.notes)) == (Outcome.SENT, 2)


async def test_a_server_that_was_upgraded_is_called_by_the_api_that_it_has(
    channel: ChannelCalls, odoo: Odoo, config: dict[str, Any]
) -> None:
    await deliver(channel, config, target(), Answer("One"))
    odoo.has_json_rpc = False
    (sent,) = await deliver(channel, config, target(), Answer("Two"))
    assert sent.outcome is Outcome.SENT


async def test_polls_do_not_wait_for_notes(config: dict[str, Any]) -> None:
    async with client() as http:
        odoo_channel = build(dependencies(http))
    slots = ConcurrencyLimiter()
    instance = Instance(1, "ann", "erp-events", "Odoo", config, None, NOW, NOW)
    limits = known_limits(instance, odoo_channel)
    assert limits is not None
    for _ in range(limits.max_concurrency):
        await slots.acquire(account_key("erp-events", limits), limits.max_concurrency)
    async with asyncio.timeout(10), ReadLimiter(slots).slot(instance, odoo_channel):
        pass
