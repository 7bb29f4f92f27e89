"""Polling against a real IMAP server."""

import asyncio
import contextlib
import gc
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta

import anyio
import pytest

from adapters.outbound.channels.email.config import CONFIG, DEFINITION
from adapters.outbound.channels.email.mailbox import MAX_HUNG_UP, MailBox, Mailboxes
from adapters.outbound.channels.email.polling import MAX_MAILS, MAX_PER_THREAD
from adapters.outbound.channels.email.tests.conftest import mail, settings
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import NOW
from adapters.outbound.net.addresses import AddressPolicy, AllowedAddresses
from domain.instances.validation import faults_of
from domain.refusals import TooLarge
from ports.capabilities import PlatformError, PollFailed
from tests.support.mail import Certificate, Mailbox, Postbox, imap_server
from tests.support.servers import listening
from tests.support.waiting import until


@pytest.fixture(scope="module")
def another_server() -> Iterator[Mailbox]:
    with imap_server() as server:
        yield server


@pytest.fixture
def moved(another_server: Mailbox) -> Mailbox:
    """An empty mailbox on another server."""
    another_server.empty()
    return another_server


def test_the_channel_has_the_capabilities_of_a_mailbox(channel: ChannelCalls) -> None:
    assert channel.has("poller", "poll_ack", "push_watcher", "sender", "probe", "fetcher")


async def test_the_first_poll_takes_what_is_unread_now(channel: ChannelCalls, mailbox: Mailbox) -> None:
    mailbox.put(mail("seen before", "old@x.example"), flags="\\Seen")
    mailbox.put(mail("first", "a@x.example"), mail("second", "b@x.example"))
    found = await channel.poll(settings(imapPort=mailbox.port), None, NOW, NOW)
    assert [event.text for event in found.events] == ["first", "second"]
    assert [event.session_id for event in found.events] == ["<a@x.example>", "<b@x.example>"]
    assert found.more is False


@pytest.mark.parametrize("since", [24, "24", "2026-11-19T12:00:00Z", "2026-11-19T12:00:00+00:00"])
async def test_unread_mail_from_before_since_is_left_alone(
    channel: ChannelCalls, mailbox: Mailbox, since: object
) -> None:
    created = datetime(2026, 11, 20, 12, tzinfo=UTC)
    for number, hours in enumerate((1000, 25, 24, 1)):
        mailbox.put(mail(f"{hours} hours", f"{number}@x.example"), at=created - timedelta(hours=hours))
    config = settings(imapPort=mailbox.port, since=since)
    found = await channel.poll(config, None, NOW, created)
    assert [event.text for event in found.events] == ["24 hours", "1 hours"]
    await channel.acknowledge(config, found.events)
    assert len(mailbox.uids("UNSEEN")) == 2
    mailbox.put(mail("new", "new@x.example"), at=created + timedelta(days=9))
    later = await channel.poll(config, found.cursor, NOW, created)
    assert [event.text for event in later.events] == ["new"]
    without = await channel.poll(settings(imapPort=mailbox.port), None, NOW, created)
    assert len(without.events) == 3


@pytest.mark.parametrize(
    "since", ["yesterday", "-3", True, "nan", "2026-13-01", 1e9, "0001-01-01", "9999-12-31"]
)
def test_since_is_hours_or_a_date(since: object) -> None:
    config = settings(since=since)
    assert [fault.field for fault in faults_of(DEFINITION, None, config, None)] == ["config.since"]


async def test_a_probe_tells_of_unread_mail(channel: ChannelCalls, mailbox: Mailbox, smtp: Postbox) -> None:
    config = settings(imapPort=mailbox.port, smtpPort=smtp.port)
    assert await channel.probe(config) is None
    mailbox.put(mail("old", "o@x.example"), at=NOW - timedelta(days=400))
    mailbox.put(mail("new", "n@x.example"), at=NOW - timedelta(hours=2))
    oldest = f"{NOW - timedelta(days=400):%Y-%m-%d}"
    told = await channel.probe(config)
    assert told == (
        f"2 unread mails lie in the mailbox, the oldest of {oldest}: all of them are answered, as since is not set"
    )
    told = await channel.probe({**config, "since": 24})
    assert told is not None
    assert ": 1 of them came since " in told
    told = await channel.probe({**config, "since": f"{NOW + timedelta(days=2):%Y-%m-%d}"})
    assert told is not None
    assert "still to come: mail is left alone until then" in told


async def test_mail_stays_unread_until_its_event_is_stored(channel: ChannelCalls, mailbox: Mailbox) -> None:
    config = settings(imapPort=mailbox.port)
    mailbox.put(mail())
    found = await channel.poll(config, None, NOW, NOW)
    assert mailbox.uids("UNSEEN") == mailbox.uids()
    await channel.acknowledge(config, found.events)
    assert mailbox.uids("UNSEEN") == []
    assert (await channel.poll(config, found.cursor, NOW, NOW)).events == []


async def test_a_stop_before_marking_doubles_nothing(channel: ChannelCalls, mailbox: Mailbox) -> None:
    config = settings(imapPort=mailbox.port)
    mailbox.put(mail("one", "1@x.example"))
    first = await channel.poll(config, None, NOW, NOW)
    mailbox.put(mail("two", "2@x.example"))
    second = await channel.poll(config, first.cursor, NOW, NOW)
    assert [event.text for event in second.events] == ["two"]
    assert mailbox.uids("SEEN") == mailbox.uids()[:1]


async def test_a_stop_before_storing_finds_the_same_event_again(
    channel: ChannelCalls, mailbox: Mailbox
) -> None:
    config = settings(imapPort=mailbox.port)
    mailbox.put(mail())
    one = await channel.poll(config, None, NOW, NOW)
    other = await channel.poll(config, None, NOW, NOW)
    assert [event.key for event in one.events] == [event.key for event in other.events]


async def test_mail_that_the_owner_marks_as_unread_is_taken(channel: ChannelCalls, mailbox: Mailbox) -> None:
    config = settings(imapPort=mailbox.port)
    mailbox.put(mail("read on the phone", "p@x.example"), flags="\\Seen")
    first = await channel.poll(config, None, NOW, NOW)
    mailbox.flag(mailbox.uids()[0], "-FLAGS", "\\Seen")
    second = await channel.poll(config, first.cursor, NOW, NOW)
    assert [event.text for event in second.events] == ["read on the phone"]


async def test_a_new_uidvalidity_finds_the_same_mail_under_the_same_key(
    channel: ChannelCalls, mailbox: Mailbox, moved: Mailbox
) -> None:
    mailbox.put(mail("one", "1@x.example"), mail("two", message_id=""))
    first = await channel.poll(settings(imapPort=mailbox.port), None, NOW, NOW)
    moved.put(mail("zero", "0@x.example"), mail("one", "1@x.example"), mail("two", message_id=""))
    second = await channel.poll(settings(imapPort=moved.port), first.cursor, NOW, NOW)
    assert second.cursor["uidValidity"] != first.cursor["uidValidity"]
    assert [event.text for event in second.events] == ["zero", "one", "two"]
    assert [event.key for event in second.events][1:] == [event.key for event in first.events]


async def test_another_mailbox_with_the_same_uidvalidity_is_read_anew(
    channel: ChannelCalls, mailbox: Mailbox
) -> None:
    config = settings(imapPort=mailbox.port)
    mailbox.put(mail("one", "1@x.example"))
    taken = dict((await channel.poll(config, None, NOW, NOW)).cursor)
    elsewhere = {**taken, "account": "another mailbox with a mail of the same UID"}
    assert (await channel.poll(config, taken, NOW, NOW)).events == []
    mailbox.flag(mailbox.uids()[0], "-FLAGS", "\\Seen")
    assert [event.text for event in (await channel.poll(config, elsewhere, NOW, NOW)).events] == ["one"]


async def test_a_full_mailbox_is_taken_in_pieces_in_order(channel: ChannelCalls, mailbox: Mailbox) -> None:
    config = settings(imapPort=mailbox.port)
    mailbox.put(*(mail(f"number {n}", f"{n}@x.example") for n in range(MAX_MAILS + 2)))
    first = await channel.poll(config, None, NOW, NOW)
    assert first.more is True
    second = await channel.poll(config, first.cursor, NOW, NOW)
    assert second.more is False
    texts = [event.text for event in (*first.events, *second.events)]
    assert texts == [f"number {n}" for n in range(MAX_MAILS + 2)]


async def test_automatic_mail_is_no_event_and_does_not_come_again(
    channel: ChannelCalls, mailbox: Mailbox
) -> None:
    config = settings(imapPort=mailbox.port)
    mailbox.put(mail("I am away", "away@x.example", Auto_Submitted="auto-replied"))
    first = await channel.poll(config, None, NOW, NOW)
    assert first.events == []
    assert [(event.refused, event.text) for event in first.unanswered] == [("auto-submitted", "I am away")]
    second = await channel.poll(config, first.cursor, NOW, NOW)
    assert second.events == second.unanswered == []
    assert mailbox.uids("UNSEEN") == []


async def test_mail_that_breaks_the_reader_is_put_on_record(
    channel: ChannelCalls, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(raw: bytes) -> None:
        raise RecursionError("too deep")

    monkeypatch.setattr("adapters.outbound.channels.email.polling.read_mail", broken)
    config = settings(imapPort=mailbox.port)
    mailbox.put(mail())
    found = await channel.poll(config, None, NOW, NOW)
    assert [event.unreadable for event in found.events] == ["the mail cannot be read: it is damaged"]
    await channel.acknowledge(config, found.events)
    assert mailbox.uids("UNSEEN") == []
    assert (await channel.poll(config, found.cursor, NOW, NOW)).events == []


async def test_a_loop_in_one_thread_is_cut_for_the_hour(channel: ChannelCalls, mailbox: Mailbox) -> None:
    config = settings(imapPort=mailbox.port)
    mailbox.put(mail("again", "n@x.example", References="<root@x.example>"))
    found = await channel.poll(config, None, NOW, NOW)
    thread = next(iter(found.cursor["threads"]))
    mailbox.put(mail("again", "m@x.example", References="<root@x.example>"))
    mailbox.put(mail("other", "o@x.example"))
    full = {**found.cursor, "threads": {thread: [NOW.timestamp()] * MAX_PER_THREAD}}
    polled = await channel.poll(config, full, NOW, NOW)
    assert [event.text for event in polled.events] == ["other"]
    assert {event.refused for event in polled.unanswered} == {"thread-limit"}
    stale = {**found.cursor, "threads": {thread: [NOW.timestamp() - 3601] * MAX_PER_THREAD}}
    assert len((await channel.poll(config, stale, NOW, NOW)).events) == 2


async def test_a_huge_mail_is_read_in_part(
    channel: ChannelCalls, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.outbound.channels.email.polling.MAX_MAIL", 500)
    monkeypatch.setattr("adapters.outbound.channels.email.polling.CUT_MAIL", 300)
    mailbox.put(mail("x" * 2000))
    found = await channel.poll(settings(imapPort=mailbox.port), None, NOW, NOW)
    assert found.events[0].raw["truncated"] is True
    assert 0 < len(found.events[0].text) < 300


async def test_the_files_of_a_huge_mail_are_named_and_refused(
    channel: ChannelCalls, mailbox: Mailbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("adapters.outbound.channels.email.polling.MAX_MAIL", 300)
    mailbox.put(WITH_FILE)
    config = settings(imapPort=mailbox.port)
    (event,) = (await channel.poll(config, None, NOW, NOW)).events
    assert [(file.name, file.size) for file in event.attachments] == [("note.txt", None)]
    with pytest.raises(TooLarge, match="32 MB at most"):
        [piece async for piece in channel.fetch(config, event.attachments[0])]


WITH_FILE = mail(
    "--b\r\nContent-Type: text/plain\r\n\r\nsee file\r\n"
    "--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=note.txt\r\n\r\n"
    "the bytes\r\n--b--",
    "file@x.example",
    MIME_Version="1.0",
    Content_Type="multipart/mixed; boundary=b",
)


async def test_files_are_fetched_when_they_are_wanted(channel: ChannelCalls, mailbox: Mailbox) -> None:
    config = settings(imapPort=mailbox.port)
    mailbox.put(WITH_FILE)
    found = await channel.poll(config, None, NOW, NOW)
    (file,) = found.events[0].attachments
    assert (file.name, file.mime_type, file.size) == ("note.txt", "text/plain", 9)
    assert b"".join([piece async for piece in channel.fetch(config, file)]) == b"the bytes"
    mailbox.empty()
    with pytest.raises(PlatformError, match="no longer in the mailbox"):
        [piece async for piece in channel.fetch(config, file)]


async def test_a_file_is_found_again_after_the_mailbox_was_moved(
    channel: ChannelCalls, mailbox: Mailbox, moved: Mailbox
) -> None:
    mailbox.put(WITH_FILE)
    found = await channel.poll(settings(imapPort=mailbox.port), None, NOW, NOW)
    (file,) = found.events[0].attachments
    moved.put(mail("other", "other@x.example"), WITH_FILE)
    config = settings(imapPort=moved.port)
    assert b"".join([piece async for piece in channel.fetch(config, file)]) == b"the bytes"


async def test_idle_tells_of_mail_at_once(channel: ChannelCalls, mailbox: Mailbox) -> None:
    config = settings(imapPort=mailbox.port)
    found = await channel.poll(config, None, NOW, NOW)
    with anyio.fail_after(120):
        async with anyio.create_task_group() as group:
            group.start_soon(channel.watch, config, 1000.0)
            await anyio.to_thread.run_sync(mailbox.put, mail())
    assert len((await channel.poll(config, found.cursor, NOW, NOW)).events) == 1


async def test_mail_between_poll_and_idle_is_noticed(channel: ChannelCalls, mailbox: Mailbox) -> None:
    config = settings(imapPort=mailbox.port)
    await channel.poll(config, None, NOW, NOW)
    mailbox.put(mail())
    with anyio.fail_after(120):
        await channel.watch(config, 1000.0)


@asynccontextmanager
async def hanging_up() -> AsyncIterator[int]:
    """A server that takes IDLE and closes the connection: its port."""
    greeting = b"* OK [CAPABILITY IMAP4rev1 IDLE] ready\r\n"

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(greeting)
        with contextlib.suppress(ConnectionError):
            while line := await reader.readline():
                tag, command = line.split(maxsplit=2)[:2]
                if command == b"IDLE":
                    writer.write(b"+ idling\r\n")
                    await writer.drain()
                    break
                writer.write(b"* CAPABILITY IMAP4rev1 IDLE\r\n* 0 EXISTS\r\n" + tag + b" OK done\r\n")
        writer.close()

    async with listening(serve) as port:
        yield port


async def test_a_server_that_ends_idle_at_once_is_not_flooded(channel: ChannelCalls) -> None:
    async with hanging_up() as port:
        config = settings(imapPort=port)
        with anyio.fail_after(120):
            for _ in range(MAX_HUNG_UP):
                await channel.watch(config, 1000.0)
            for _ in range(2):
                with pytest.raises(PollFailed, match="ends IDLE"):
                    await channel.watch(config, 1000.0)


async def test_a_cancelled_watch_ends_at_once(channel: ChannelCalls, mailbox: Mailbox) -> None:
    config = settings(imapPort=mailbox.port)
    with anyio.move_on_after(1) as scope:
        await channel.watch(config, 1000.0)
    assert scope.cancelled_caught


async def test_work_that_is_cancelled_before_it_begins_leaves_no_connection(mailbox: Mailbox) -> None:
    mailboxes = Mailboxes(AllowedAddresses(AddressPolicy()), ssl.create_default_context)
    full = anyio.CapacityLimiter(1)
    full.acquire_on_behalf_of_nowait(mailboxes)
    work = asyncio.create_task(
        mailboxes.work(CONFIG.load(settings(imapPort=mailbox.port)), MailBox.unseen, full)
    )
    await asyncio.to_thread(until, lambda: bool(full.statistics().tasks_waiting), "the work waits")
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    del work
    gc.collect()  # an open socket is a ResourceWarning now


async def test_a_wrong_password_is_fatal_and_not_told(channel: ChannelCalls, mailbox: Mailbox) -> None:
    config = settings(imapPort=mailbox.port, password="hunter2-wrong")
    with pytest.raises(PollFailed, match="did not take the user name and password") as failure:
        await channel.poll(config, None, NOW, NOW)
    assert failure.value.fatal is True
    assert "hunter2-wrong" not in str(failure.value)


async def test_a_password_cannot_smuggle_in_commands(channel: ChannelCalls, mailbox: Mailbox) -> None:
    with pytest.raises(PollFailed, match="line breaks"):
        await channel.poll(settings(imapPort=mailbox.port, password="x\r\na1 DELETE INBOX"), None, NOW, NOW)


async def test_a_password_beyond_ascii_can_be_used(channel: ChannelCalls, mailbox: Mailbox) -> None:
    with pytest.raises(PollFailed, match="did not take the user name and password"):
        await channel.poll(settings(imapPort=mailbox.port, password="pässwörd"), None, NOW, NOW)


async def test_nobody_listening_is_not_fatal(channel: ChannelCalls) -> None:
    with pytest.raises(PollFailed, match="cannot be reached") as failure:
        await channel.poll(settings(imapPort=1), None, NOW, NOW)
    assert failure.value.fatal is False


async def test_a_metadata_address_is_never_called(channel: ChannelCalls) -> None:
    with pytest.raises(PollFailed, match="outbound address policy") as failure:
        await channel.poll(settings(imapHost="169.254.169.254"), None, NOW, NOW)
    assert failure.value.fatal is True


async def test_starttls_is_used_when_offered_and_its_certificate_checked(
    channel: ChannelCalls, distrustful: ChannelCalls, certificate: Certificate
) -> None:
    with imap_server(certificate) as secured:
        config = settings(imapPort=secured.port)
        assert (await channel.poll(config, None, NOW, NOW)).events == []
        with pytest.raises(PollFailed, match="TLS with"):
            await distrustful.poll(config, None, NOW, NOW)


async def test_probe_tries_both_servers(channel: ChannelCalls, mailbox: Mailbox, smtp: Postbox) -> None:
    good = settings(imapPort=mailbox.port, smtpPort=smtp.port)
    await channel.probe(good)
    with pytest.raises(PlatformError, match=r"^IMAP: .*did not take"):
        await channel.probe({**good, "password": "wrong"})
    with pytest.raises(PlatformError, match=r"^SMTP: .*cannot be reached"):
        await channel.probe({**good, "smtpPort": 1})
