"""What happens in a folder of a Google Drive of our own, in good and in bad times."""

import json
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from typing import Any

import pytest

from adapters.outbound.channels.drive_folder import files as polling
from adapters.outbound.channels.drive_folder.channel import build
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import NOW, client, dependencies
from domain.channels.answers import Answer
from domain.channels.messages import Event
from ports.capabilities import PlatformError, Polled, PollFailed
from ports.http import HttpFailed
from tests.support.platforms.drive import CLIENT, DOCUMENT, FOLDER, Drive, error

CONFIG: dict[str, Any] = {**CLIENT, "folderId": FOLDER}


@pytest.fixture
async def drive() -> AsyncIterator[Drive]:
    async with Drive.run() as platform:
        yield platform


@pytest.fixture
async def channel(drive: Drive) -> AsyncIterator[ChannelCalls]:
    addresses = {"DRIVE_FOLDER_API_URL": drive.url, "GOOGLE_TOKEN_URL": f"{drive.url}/token"}
    async with client() as http:
        yield ChannelCalls(build(dependencies(http, addresses)))


class Poller:
    """Polls with the cursor stored as JSON in between, as the service does."""

    def __init__(self, channel: ChannelCalls) -> None:
        self.channel = channel
        self.cursor: Mapping[str, Any] | None = None
        self.more = False

    async def __call__(self, **changes: Any) -> list[Event]:
        polled: Polled = await self.channel.poll({**CONFIG, **changes}, self.cursor, NOW, NOW)
        self.cursor = json.loads(json.dumps(dict(polled.cursor)))
        self.more = polled.more
        return list(polled.events)


@pytest.fixture
def poll(channel: ChannelCalls) -> Poller:
    return Poller(channel)


def names(events: list[Event]) -> list[str]:
    return [event.raw["name"] for event in events]


async def test_has_the_capabilities_of_a_folder(channel: ChannelCalls) -> None:
    assert channel.has("poller", "webhook", "sender", "registrar", "probe", "fetcher")
    assert channel.default_interval_minutes == 10


async def test_the_first_poll_reports_nothing(drive: Drive, poll: Poller) -> None:
    for number in range(7):
        drive.put(f"old{number}.pdf")
    assert await poll() == []
    assert await poll() == []


async def test_the_first_poll_reports_what_came_after_the_instance(
    drive: Drive, channel: ChannelCalls, poll: Poller
) -> None:
    def at(minutes: int) -> str:
        return (NOW + timedelta(minutes=minutes)).isoformat().replace("+00:00", "Z")

    drive.put("old.pdf", createdTime=at(-1), modifiedTime=at(-1))
    drive.put("dated ahead.pdf", createdTime=at(-1), modifiedTime=at(600))
    drive.put("new.pdf", createdTime=at(1), modifiedTime=at(-600))
    drive.put("changed.pdf", createdTime=at(-600), modifiedTime=at(2))
    drive.put("without dates.pdf", modifiedTime="")
    polled = await channel.poll(CONFIG, None, NOW + timedelta(minutes=5), NOW)
    assert names(list(polled.events)) == ["new.pdf", "changed.pdf"]
    poll.cursor = polled.cursor
    assert await poll() == []


async def test_another_folder_reports_nothing_that_is_there_by_then(drive: Drive, poll: Poller) -> None:
    drive.put("there.pdf", createdTime=NOW.isoformat())
    poll.cursor = {"folder": "another", "files": {}}
    assert await poll() == []
    drive.put("new.pdf")
    assert names(await poll()) == ["new.pdf"]


async def test_a_new_file_is_reported_once(drive: Drive, poll: Poller) -> None:
    await poll()
    file_id = drive.put("plan.pdf")
    (event,) = await poll()
    assert (
        event.text == f"File updated: plan.pdf at https://drive.google.com/file/d/{file_id}/view?usp=drivesdk"
    )
    assert event.key == f"{file_id}:1"
    assert event.session_id == FOLDER
    assert (event.sender.external_id, event.sender.display_name) == ("maria@workshop.example", "Maria Berg")
    assert await poll() == []


async def test_every_change_of_a_file_is_reported(drive: Drive, poll: Poller) -> None:
    file_id = drive.put("plan.pdf")
    await poll()
    drive.change(file_id)
    (first,) = await poll()
    drive.change(file_id)
    (second,) = await poll()
    assert first.key != second.key


@pytest.mark.parametrize(
    "change",
    [
        {"modifiedTime": "1999-01-01T00:00:00.000Z"},
        {"modifiedTime": "2999-01-01T00:00:00.000Z"},
        {"name": "renamed.pdf"},
    ],
)
async def test_dates_in_past_and_future_hide_nothing(
    drive: Drive, poll: Poller, change: dict[str, str]
) -> None:
    file_id, other = drive.put("plan.pdf"), drive.put("other.pdf")
    await poll()
    drive.change(file_id, **change)
    assert len(await poll()) == 1
    drive.change(other)
    assert names(await poll()) == ["other.pdf"]


async def test_a_file_that_is_moved_in_or_restored_is_reported(drive: Drive, poll: Poller) -> None:
    elsewhere = drive.put("moved.pdf", parents=["another folder"])
    trashed = drive.put("restored.pdf", trashed=True)
    await poll()
    drive.files[elsewhere]["parents"] = [FOLDER]
    drive.files[trashed]["trashed"] = False
    assert names(await poll()) == ["moved.pdf", "restored.pdf"]


async def test_a_change_that_nobody_sees_is_not_reported(drive: Drive, poll: Poller) -> None:
    file_id = drive.put("plan.pdf")
    await poll()
    drive.touch(file_id)
    assert await poll() == []


async def test_a_google_document_is_known_by_its_version(drive: Drive, poll: Poller) -> None:
    file_id = drive.put("Notes", DOCUMENT)
    await poll()
    drive.touch(file_id)
    assert names(await poll()) == ["Notes"]


@pytest.mark.parametrize(
    "mime_type", ["application/vnd.google-apps.folder", "application/vnd.google-apps.shortcut"]
)
async def test_folders_and_shortcuts_are_no_files(drive: Drive, poll: Poller, mime_type: str) -> None:
    await poll()
    drive.put("Sub", mime_type)
    assert await poll() == []


@pytest.mark.parametrize(
    ("file_types", "expected"),
    [
        ("", ["a.pdf", "b.DOCX", "c", "d.tar.gz", "Notes"]),
        ("pdf", ["a.pdf"]),
        (" .PDF , docx,", ["a.pdf", "b.DOCX"]),
        ("gz,gdoc", ["d.tar.gz", "Notes"]),
        ("c", []),
    ],
)
async def test_only_the_types_asked_for_are_reported(
    drive: Drive, poll: Poller, file_types: str, expected: list[str]
) -> None:
    await poll(fileTypes=file_types)
    for name in ("a.pdf", "b.DOCX", "c", "d.tar.gz"):
        drive.put(name)
    drive.put("Notes", DOCUMENT)
    assert names(await poll(fileTypes=file_types)) == expected
    assert await poll() == []


async def test_our_own_answers_are_not_reported(drive: Drive, poll: Poller, channel: ChannelCalls) -> None:
    await poll()
    target = {"fileId": "file1", "name": "plan.pdf"}
    (part,) = channel.render(CONFIG, target, Answer("Done."))
    await channel.send(CONFIG, target, part, "key")
    assert len(drive.uploaded) == 1
    assert await poll() == []


async def test_only_what_looks_like_an_answer_counts_for_loops(drive: Drive, poll: Poller) -> None:
    await poll()
    drive.put("scan.pdf")
    drive.put("plan.pdf - answer.pdf")
    drive.put("notes.txt", "text/plain")
    drive.put("plan", DOCUMENT)
    assert [event.automated for event in await poll()] == [False, True, True, True]


async def test_many_files_come_in_portions(
    drive: Drive, poll: Poller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(polling, "MAX_EVENTS", 4)
    changed = drive.put("first.pdf")
    await poll()
    for number in range(8):
        drive.put(f"new{number}.pdf")
    drive.change(changed)
    found = []
    sizes = []
    while True:
        events = await poll()
        found += names(events)
        sizes.append(len(events))
        if not poll.more:
            break
    assert sizes == [4, 4, 1]
    assert sorted(found) == sorted([f"new{number}.pdf" for number in range(8)] + ["first.pdf"])


async def test_another_folder_begins_anew(drive: Drive, poll: Poller) -> None:
    await poll()
    assert poll.cursor is not None
    poll.cursor = {**poll.cursor, "folder": "another folder"}
    drive.put("old there.pdf")
    assert await poll() == []


# --- files


async def test_files_are_fetched_and_documents_exported(
    drive: Drive, poll: Poller, channel: ChannelCalls
) -> None:
    await poll()
    plan, notes = drive.put("plan.pdf"), drive.put("Notes", DOCUMENT)
    drive.contents = {plan: b"plan", notes: b"notes"}
    attachments = [event.attachments[0] for event in await poll()]
    assert [(file.name, file.mime_type.rpartition(".")[2]) for file in attachments] == [
        ("plan.pdf", "application/pdf"),
        ("Notes.docx", "document"),
    ]
    contents = [b"".join([piece async for piece in channel.fetch(CONFIG, file)]) for file in attachments]
    assert contents == [b"plan", b"exported notes"]


@pytest.mark.parametrize(
    "changes",
    [{"size": str(26 * 1024 * 1024)}, {"size": "x"}, {"mimeType": "application/vnd.google-apps.form"}],
)
async def test_what_cannot_be_handed_on_is_only_named(
    drive: Drive, poll: Poller, changes: dict[str, str]
) -> None:
    await poll()
    file_id = drive.put("big.pdf", **changes)
    if "mimeType" in changes:
        del drive.files[file_id]["size"]
    (event,) = await poll()
    assert event.attachments == ()


async def test_a_file_that_is_gone_cannot_be_fetched(
    drive: Drive, poll: Poller, channel: ChannelCalls
) -> None:
    await poll()
    file_id = drive.put("plan.pdf")
    (event,) = await poll()
    del drive.files[file_id]
    with pytest.raises(HttpFailed):
        assert [piece async for piece in channel.fetch(CONFIG, event.attachments[0])]


async def test_a_file_cannot_be_fetched_with_dead_credentials(
    drive: Drive, poll: Poller, channel: ChannelCalls
) -> None:
    await poll()
    drive.put("plan.pdf")
    (event,) = await poll()
    dead = {**CONFIG, "refreshToken": "dead"}
    with pytest.raises(PlatformError, match="invalid_grant"):
        assert [piece async for piece in channel.fetch(dead, event.attachments[0])]


# --- trouble


async def test_dead_credentials_end_the_polling(drive: Drive, poll: Poller) -> None:
    drive.grant_error = "invalid_grant"
    with pytest.raises(PollFailed, match="invalid_grant") as caught:
        await poll()
    assert caught.value.fatal
    assert CLIENT["refreshToken"] not in str(caught.value)


async def test_an_access_token_that_is_refused_is_renewed(drive: Drive, poll: Poller) -> None:
    await poll()
    drive.tokens.clear()
    assert await poll() == []
    assert drive.issued == 2


@pytest.mark.parametrize(
    ("status", "body", "headers", "wait"),
    [
        (403, error(403, "Rate Limit Exceeded", "userRateLimitExceeded").json, {}, 60.0),
        (429, None, {"retry_after": "5"}, 5.0),
        (403, error(403, "The user does not have permission", "forbidden").json, {}, None),
        (404, error(404, "File not found: .", "notFound").json, {}, None),
        (500, None, {}, None),
        (200, ["x"], {}, None),
    ],
)
async def test_trouble_is_passed_on_in_googles_words(
    drive: Drive, poll: Poller, status: int, body: Any, headers: dict[str, str], wait: float | None
) -> None:
    await poll()
    drive.next_reply(status, body, **headers)
    with pytest.raises(PollFailed) as caught:
        await poll()
    assert (caught.value.fatal, caught.value.retry_after) == (False, wait)
    if isinstance(body, dict):
        assert body["error"]["message"] in str(caught.value)


async def test_a_page_that_fails_leaves_the_cursor(drive: Drive, poll: Poller) -> None:
    for number in range(4):
        drive.put(f"{number}.pdf")
    await poll()
    drive.put("new.pdf")
    cursor = poll.cursor
    drive.next_reply(200, {"files": [], "nextPageToken": "3"})
    drive.next_reply(503)
    with pytest.raises(PollFailed):
        await poll()
    assert poll.cursor == cursor
    assert names(await poll()) == ["new.pdf"]


async def test_a_connection_that_breaks_is_tried_again(drive: Drive, poll: Poller) -> None:
    await poll()
    drive.drop()
    drive.drop()  # a reading request is tried twice by the client
    with pytest.raises(PollFailed, match="reached"):
        await poll()


async def test_probing_notices_that_answers_would_be_refused(drive: Drive, channel: ChannelCalls) -> None:
    folder = {"id": FOLDER, "mimeType": "application/vnd.google-apps.folder"}
    drive.scope = "https://www.googleapis.com/auth/drive.readonly"
    with pytest.raises(PlatformError, match="token may only read"):
        await channel.probe(CONFIG)
    drive.tokens.clear()
    drive.scope = "https://www.googleapis.com/auth/drive"
    await channel.probe(CONFIG)
    drive.next_reply(200, {**folder, "capabilities": {"canAddChildren": False}})
    with pytest.raises(PlatformError, match="make it an editor"):
        await channel.probe(CONFIG)
    drive.next_reply(200, {**folder, "trashed": True})
    with pytest.raises(PlatformError, match="in the trash"):
        await channel.probe(CONFIG)


async def test_probing_reads_the_folder(drive: Drive, channel: ChannelCalls) -> None:
    await channel.probe(CONFIG)
    with pytest.raises(PlatformError, match="File not found"):
        await channel.probe({**CONFIG, "folderId": "missing"})
    with pytest.raises(PlatformError, match="not a folder"):
        await channel.probe({**CONFIG, "folderId": drive.put("plan.pdf")})
    with pytest.raises(PlatformError, match="invalid_grant"):
        await channel.probe({**CONFIG, "refreshToken": "wrong"})
