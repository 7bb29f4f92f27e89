"""Polling Gmail's history."""

from collections.abc import Mapping
from typing import Any

import pytest

from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import NOW, SetClock
from domain.channels.messages import Event
from ports.capabilities import PollFailed
from tests.support.platforms.gmail import CLIENT, Gmail

LATER = str(int(NOW.timestamp() * 1000) + 1000)
EARLIER = str(int(NOW.timestamp() * 1000) - 3_600_000 * 5)


async def to_the_end(
    channel: ChannelCalls, cursor: Mapping[str, Any] | None
) -> tuple[list[Event], Mapping[str, Any]]:
    """Polls until there is no more, as the poller does."""
    events: list[Event] = []
    for _ in range(20):
        found = await channel.poll(CLIENT, cursor, NOW, NOW)
        events += found.events
        cursor = found.cursor
        if not found.more:
            return events, cursor
    raise AssertionError("polling does not come to an end")


def test_the_channel_has_the_capabilities_of_a_mailbox(channel: ChannelCalls) -> None:
    assert channel.has("poller", "sender", "probe", "fetcher")


async def test_what_was_there_before_is_not_taken(channel: ChannelCalls, gmail: Gmail) -> None:
    gmail.arrive("old", internalDate=EARLIER)
    events, cursor = await to_the_end(channel, None)
    assert events == []
    gmail.arrive("new", "Hi there")
    (event,) = (await channel.poll(CLIENT, cursor, NOW, NOW)).events
    assert (event.key, event.session_id, event.text) == ("new", "thread-new", "Hi there")
    assert event.sender.external_id == "ann@client.example"


async def test_mail_between_the_creation_and_the_first_poll_is_taken(
    channel: ChannelCalls, gmail: Gmail
) -> None:
    gmail.arrive("old", internalDate=EARLIER)
    gmail.arrive("early", internalDate=LATER)
    gmail.arrive("dated ahead", internalDate=str(int(LATER) + 86_400_000))
    events, cursor = await to_the_end(channel, None)
    assert [event.key for event in events] == ["early"]
    assert await to_the_end(channel, cursor) == ([], cursor)


async def test_a_renewed_refresh_token_of_the_mailbox_loses_nothing(
    channel: ChannelCalls, gmail: Gmail
) -> None:
    _, start = await to_the_end(channel, None)
    gmail.arrive("meanwhile")
    events, cursor = await to_the_end(channel, {**start, "grant": "that of the token before"})
    assert [event.key for event in events] == ["meanwhile"]
    assert cursor["grant"] == start["grant"]


async def test_another_mailbox_begins_anew(channel: ChannelCalls, gmail: Gmail) -> None:
    _, start = await to_the_end(channel, None)
    gmail.arrive("old there", internalDate=LATER)
    before = {**start, "grant": "of another mailbox", "address": "other@gmail.example"}
    events, cursor = await to_the_end(channel, before)
    assert events == []
    gmail.arrive("new", internalDate=LATER)
    assert [event.key for event in (await to_the_end(channel, cursor))[0]] == ["new"]


async def test_all_pages_are_read_before_the_position_moves(channel: ChannelCalls, gmail: Gmail) -> None:
    _, start = await to_the_end(channel, None)
    for number in range(5):
        gmail.arrive(f"m{number}")
    first = await channel.poll(CLIENT, start, NOW, NOW)
    assert (first.more, first.cursor["historyId"]) == (True, start["historyId"])
    events, cursor = await to_the_end(channel, start)
    assert [event.key for event in events] == ["m0", "m1", "m2", "m3", "m4"]
    assert cursor["historyId"] == str(gmail.history_id)
    assert (await to_the_end(channel, cursor))[0] == []


async def test_a_stale_page_starts_the_list_anew(channel: ChannelCalls, gmail: Gmail) -> None:
    _, start = await to_the_end(channel, None)
    gmail.arrive("m")
    events, _ = await to_the_end(channel, {**start, "page": "stale"})
    assert [event.key for event in events] == ["m"]


async def test_an_expired_history_finds_what_was_missed_and_nothing_older(
    channel: ChannelCalls, gmail: Gmail
) -> None:
    gmail.arrive("before", internalDate=EARLIER)
    _, start = await to_the_end(channel, None)
    gmail.arrive("missed 1", internalDate=LATER)
    gmail.arrive("missed 2", internalDate=LATER)
    gmail.forget_history()
    events, cursor = await to_the_end(channel, start)
    assert sorted(str(event.key) for event in events) == ["missed 1", "missed 2"]
    gmail.arrive("next", internalDate=LATER)
    events, _ = await to_the_end(channel, cursor)
    assert [event.key for event in events] == ["next"]


async def test_a_history_that_is_always_too_old_makes_no_loop(channel: ChannelCalls, gmail: Gmail) -> None:
    _, start = await to_the_end(channel, None)
    gmail.oldest = 10**9
    _, cursor = await to_the_end(channel, start)
    before = len(gmail.seen)
    await to_the_end(channel, cursor)
    assert len(gmail.seen) - before < 5


async def test_sent_drafted_and_automatic_mail_is_left_alone(channel: ChannelCalls, gmail: Gmail) -> None:
    _, start = await to_the_end(channel, None)
    gmail.arrive("sent", labelIds=["SENT", "INBOX"])
    gmail.arrive("draft", labelIds=["DRAFT"])
    gmail.arrive("spam", labelIds=["SPAM"])
    gmail.arrive("auto", headers={"Auto-Submitted": "auto-replied"})
    gmail.arrive("own", headers={"From": "agent@gmail.example"})
    gmail.arrive("good")
    events, _ = await to_the_end(channel, start)
    assert [event.key for event in events] == ["good"]


async def test_mail_that_is_gone_again_is_left_out(channel: ChannelCalls, gmail: Gmail) -> None:
    _, start = await to_the_end(channel, None)
    gmail.arrive("gone")
    del gmail.mails["gone"]
    gmail.arrive("here")
    events, _ = await to_the_end(channel, start)
    assert [event.key for event in events] == ["here"]


async def test_an_expired_token_is_replaced_once(channel: ChannelCalls, gmail: Gmail) -> None:
    _, start = await to_the_end(channel, None)
    gmail.tokens.clear()
    await channel.poll(CLIENT, start, NOW, NOW)
    assert gmail.issued == 2
    await channel.poll(CLIENT, start, NOW, NOW)
    assert gmail.issued == 2


async def test_the_token_is_renewed_before_it_ends(
    channel: ChannelCalls, gmail: Gmail, clock: SetClock
) -> None:
    _, start = await to_the_end(channel, None)
    clock.advance(3600)
    await channel.poll(CLIENT, start, NOW, NOW)
    assert gmail.issued == 2


async def test_redirect_uri_is_sent_where_present(channel: ChannelCalls, gmail: Gmail) -> None:
    gmail.redirect_uri = "https://here.example/back"
    await channel.poll({**CLIENT, "redirectUri": gmail.redirect_uri}, None, NOW, NOW)


async def test_a_revoked_grant_is_fatal(channel: ChannelCalls, gmail: Gmail) -> None:
    gmail.grant_error = "invalid_grant"
    with pytest.raises(PollFailed, match="invalid_grant") as failure:
        await channel.poll(CLIENT, None, NOW, NOW)
    assert failure.value.fatal is True
    assert "client-secret" not in str(failure.value)


@pytest.mark.parametrize(
    ("status", "body", "wait"),
    [
        (429, {"error": {"message": "slow"}}, 60.0),
        (403, {"error": {"message": "slow", "errors": [{"reason": "userRateLimitExceeded"}]}}, 60.0),
        (403, {"error": {"message": "no", "errors": [{"reason": "insufficientPermissions"}]}}, None),
        (500, None, None),
        (503, {"error": "not an object"}, None),
    ],
)
async def test_gmails_refusals_are_no_end(
    channel: ChannelCalls, gmail: Gmail, status: int, body: Any, wait: float | None
) -> None:
    _, start = await to_the_end(channel, None)
    gmail.next_reply(status, body)
    with pytest.raises(PollFailed, match=f"Gmail answered {status}") as failure:
        await channel.poll(CLIENT, start, NOW, NOW)
    assert (failure.value.fatal, failure.value.retry_after) == (False, wait)


async def test_gmails_own_wait_is_kept(channel: ChannelCalls, gmail: Gmail) -> None:
    _, start = await to_the_end(channel, None)
    gmail.next_reply(429, {}, Retry_After="7")
    with pytest.raises(PollFailed) as failure:
        await channel.poll(CLIENT, start, NOW, NOW)
    assert failure.value.retry_after == 7.0


async def test_a_failed_message_moves_nothing(channel: ChannelCalls, gmail: Gmail) -> None:
    _, start = await to_the_end(channel, None)
    gmail.arrive("m")
    gmail.next_reply(200, {"history": [{"messagesAdded": [{"message": {"id": "m"}}]}], "historyId": "2000"})
    gmail.next_reply(500)
    with pytest.raises(PollFailed):
        await channel.poll(CLIENT, start, NOW, NOW)
    events, _ = await to_the_end(channel, start)
    assert [event.key for event in events] == ["m"]


async def test_a_broken_connection_is_a_failed_poll(channel: ChannelCalls, gmail: Gmail) -> None:
    _, start = await to_the_end(channel, None)
    gmail.drop()
    gmail.drop()  # the client asks once more on a new connection, as reading is safe to repeat
    with pytest.raises(PollFailed, match="cannot be reached"):
        await channel.poll(CLIENT, start, NOW, NOW)
