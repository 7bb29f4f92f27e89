"""Answers as files in a Google Drive of our own, in good and in bad times."""

from collections.abc import AsyncIterator
from typing import Any

import pytest

from adapters.outbound.channels.drive_folder.channel import build
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import NOW, Files, client, dependencies
from domain.channels.answers import Answer, Artifact
from domain.channels.messages import Outcome, Sent
from tests.support.platforms.drive import CLIENT, FOLDER, Drive, error

CONFIG: dict[str, Any] = {**CLIENT, "folderId": FOLDER}
TARGET = {"fileId": "file1", "name": "plan.pdf"}
PICTURE = Artifact("chart.png", "image/png", "https://switchboard.example/files/1", blob="1")
CONTENT = bytes(range(256)) * 20 + b"\r\n--x\r\n"


@pytest.fixture
async def drive() -> AsyncIterator[Drive]:
    async with Drive.run() as platform:
        yield platform


@pytest.fixture
async def channel(drive: Drive) -> AsyncIterator[ChannelCalls]:
    addresses = {"DRIVE_FOLDER_API_URL": drive.url, "GOOGLE_TOKEN_URL": f"{drive.url}/token"}
    async with client() as http:
        yield ChannelCalls(build(dependencies(http, addresses, files=Files(**{"chart.png": CONTENT}))))


async def deliver(channel: ChannelCalls, answer: Answer, target: dict[str, Any] = TARGET) -> list[Sent]:
    messages = channel.render(CONFIG, target, answer)
    return [
        await channel.send(CONFIG, target, message, f"delivery:{index}")
        for index, message in enumerate(messages)
    ]


async def test_the_answer_is_a_text_document_in_the_folder(channel: ChannelCalls, drive: Drive) -> None:
    text = "# Summary\n\n\N{EURO SIGN} 5 --x\n" * 2000
    (sent,) = await deliver(channel, Answer(text))
    assert sent.outcome is Outcome.SENT
    ((metadata, mime_type, content),) = drive.uploaded
    assert (metadata["name"], metadata["mimeType"], mime_type) == (
        "plan.pdf - answer.txt",
        "text/plain",
        "text/plain",
    )
    assert content.decode() == text
    assert metadata["appProperties"]["switchboard"] == "answer"
    assert sent.ref in drive.files


async def test_files_are_written_as_they_are(channel: ChannelCalls, drive: Drive) -> None:
    await deliver(channel, Answer("See", (PICTURE,)))
    metadata, mime_type, content = drive.uploaded[1]
    assert (metadata["name"], mime_type, content) == ("chart.png", "image/png", CONTENT)
    assert "switchboard" in metadata["appProperties"]


async def test_a_file_that_is_too_large_is_written_as_its_link(channel: ChannelCalls, drive: Drive) -> None:
    huge = Artifact("huge.bin", "application/octet-stream", "https://switchboard.example/files/2", size=10**9)
    await deliver(channel, Answer("", (huge,)))
    metadata, mime_type, content = drive.uploaded[0]
    assert (metadata["name"], mime_type) == ("huge.bin.txt", "text/plain")
    assert content == b"huge.bin: https://switchboard.example/files/2"


async def test_without_a_file_the_document_has_a_plain_name(channel: ChannelCalls, drive: Drive) -> None:
    await deliver(channel, Answer("Hello"), {})
    assert drive.uploaded[0][0]["name"] == "answer.txt"


async def test_an_empty_answer_writes_nothing(channel: ChannelCalls) -> None:
    assert channel.render(CONFIG, TARGET, Answer(" ")) == []


async def test_the_same_delivery_is_written_once(channel: ChannelCalls, drive: Drive) -> None:
    (first,) = await deliver(channel, Answer("Hello"))
    (second,) = await deliver(channel, Answer("Hello"))
    assert len(drive.uploaded) == 1
    assert first.ref == second.ref


async def test_a_connection_that_breaks_can_be_tried_again(channel: ChannelCalls, drive: Drive) -> None:
    await deliver(channel, Answer("warm up"))
    (message,) = channel.render(CONFIG, TARGET, Answer("Hello"))
    drive.next_reply(200, {"files": []})
    drive.drop()
    sent = await channel.send(CONFIG, TARGET, message, "another")
    assert sent.outcome is Outcome.TRANSIENT


@pytest.mark.parametrize(
    ("status", "body", "outcome", "wait"),
    [
        (
            403,
            error(403, "The user's Drive storage quota has been exceeded.", "storageQuotaExceeded").json,
            Outcome.PERMANENT,
            None,
        ),
        (403, error(403, "Rate Limit Exceeded", "rateLimitExceeded").json, Outcome.RETRY_AFTER, 60.0),
        (404, error(404, "File not found: folder.", "notFound").json, Outcome.PERMANENT, None),
        (500, None, Outcome.TRANSIENT, None),
    ],
)
async def test_errors_are_told_apart(
    channel: ChannelCalls, drive: Drive, status: int, body: Any, outcome: Outcome, wait: float | None
) -> None:
    await deliver(channel, Answer("warm up"))
    drive.next_reply(200, {"files": []})
    drive.next_reply(status, body)
    (message,) = channel.render(CONFIG, TARGET, Answer("Hello"))
    sent = await channel.send(CONFIG, TARGET, message, "another")
    assert (sent.outcome, sent.retry_after) == (outcome, wait)
    if body:
        assert body["error"]["message"] in sent.detail


@pytest.mark.parametrize(
    ("status", "body", "outcome"),
    [
        (400, {"error": "invalid_grant"}, Outcome.PERMANENT),
        (500, None, Outcome.TRANSIENT),
    ],
)
async def test_trouble_with_the_credentials_is_told_apart(
    channel: ChannelCalls, drive: Drive, status: int, body: Any, outcome: Outcome
) -> None:
    drive.next_reply(status, body)
    (sent,) = await deliver(channel, Answer("Hello"))
    assert sent.outcome is outcome
    assert drive.uploaded == []


async def test_who_watches_under_another_oauth_client_does_not_answer_our_answer(
    channel: ChannelCalls, drive: Drive
) -> None:
    first = await channel.poll(CONFIG, None, NOW, NOW)
    (sent,) = await deliver(channel, Answer("Summary"))
    del drive.files[sent.ref]["appProperties"]  # which only the client sees that wrote them
    drive.put("plan.pdf")
    found = await channel.poll(CONFIG, first.cursor, NOW, NOW)
    assert [event.raw["name"] for event in found.events] == ["plan.pdf"]
