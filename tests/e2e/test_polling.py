"""What is polled is answered once, though everything is killed between the poll and the answer."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tests.support.mail import PASSWORD, USER, Mailbox, Postbox, imap_server, smtp_server
from tests.support.platforms import drive, gmail, odoo
from tests.support.platforms.standin import Reply, Seen, StandIn
from tests.support.ports import free_port
from tests.support.service import Service

pytestmark = pytest.mark.processes

OFTEN = 0.02
"""Minutes between two polls."""
PATIENCE = 120.0
MAIL = f"From: Ann <ann@client.example>\r\nTo: {USER}\r\nSubject: Hours\r\nMessage-ID: <1@client.example>\r\n\r\n"


class Resource(StandIn):
    """What stands behind the instances."""

    def answer(self, seen: Seen) -> Reply:
        return Reply(json={"text": f"Noted: {seen.json['text']}", "artifacts": []})

    @property
    def asked(self) -> set[str]:
        return {seen.json["text"] for seen in self.seen}


class Outside:
    """All that is polled, and the resource."""

    def __init__(self, imap: Mailbox, smtp: Postbox) -> None:
        self.imap, self.smtp = imap, smtp
        self.gmail, self.drive, self.odoo, self.resource = (
            gmail.Gmail(),
            drive.Drive(),
            odoo.Odoo(),
            Resource(),
        )
        self.gmail.tokens = self.drive.tokens  # one token endpoint for both
        self.ports = {name: free_port() for name in ("gmail", "drive", "odoo", "resource")}
        self.odoo.time = datetime.now(UTC)

    def url(self, name: str) -> str:
        return f"http://127.0.0.1:{self.ports[name]}"

    @property
    def settings(self) -> dict[str, str]:
        return {
            "MAIL_API_URL": self.url("gmail"),
            "DRIVE_FOLDER_API_URL": self.url("drive"),
            "GOOGLE_TOKEN_URL": f"{self.url('drive')}/token",
            "DOWNSTREAM_URL": self.url("resource"),
        }

    @property
    def configs(self) -> Mapping[str, Mapping[str, Any]]:
        servers = {"imapHost": "127.0.0.1", "imapPort": self.imap.port, "smtpHost": "127.0.0.1"}
        account = {"smtpPort": self.smtp.port, "username": USER, "password": PASSWORD, "fromEmail": USER}
        login = {"database": odoo.DATABASE, "username": odoo.LOGIN, "password": odoo.KEY}
        watched = {"models": "res.partner", "events": "create,write,unlink"}
        return {
            "email": {**servers, **account},
            "mail-api": gmail.CLIENT,
            "drive-folder": {**drive.CLIENT, "folderId": drive.FOLDER},
            "erp-events": {"erpUrl": self.url("odoo"), **login, **watched},
        }

    def happen(self) -> None:
        """Something new on each of them."""
        now = datetime.now(UTC)
        self.imap.put(f"{MAIL}by email\r\n".encode())
        self.gmail.arrive("m1", "by Gmail", internalDate=str(int(now.timestamp() * 1000)))
        file_id = self.drive.put("plan.txt", "text/plain", createdTime=now.isoformat())
        self.drive.contents[file_id] = b"the plan"
        self.odoo.time = now
        self.odoo.make("Workshop GmbH")

    @property
    def answers(self) -> tuple[int, int, int, int]:
        return len(self.smtp.mails), len(self.gmail.sent), len(self.drive.uploaded), len(self.odoo.notes)

    @property
    def looks(self) -> int:
        """How often the one that was looked at least was."""
        looks = [sum(seen.path.endswith("/history") for seen in self.gmail.seen)]
        looks.append(sum(seen.path == "/drive/v3/files" for seen in self.drive.seen))
        looks.append(len(self.odoo.seen) // 4)
        return min(looks)


@pytest.fixture
async def outside() -> AsyncIterator[Outside]:
    with imap_server() as imap, smtp_server() as smtp:
        made = Outside(imap, smtp)
        async with AsyncExitStack() as stack:
            for name, port in made.ports.items():
                await stack.enter_async_context(getattr(made, name).serve(port))
            yield made
        for platform in (made.gmail, made.drive, made.odoo):
            assert not platform.faults, platform.faults


@asynccontextmanager
async def running(folder: Path, settings: Mapping[str, str]) -> AsyncIterator[Service]:
    service = Service(folder / "data", settings=settings)
    await asyncio.to_thread(service.__enter__)
    try:
        yield service
    finally:
        await asyncio.to_thread(service.__exit__)


async def until(holds: Callable[[], object]) -> None:
    async with asyncio.timeout(PATIENCE):
        while not holds():
            await asyncio.sleep(0.05)


async def test_each_is_answered_once(open_folder: Path, outside: Outside) -> None:
    async with running(open_folder, outside.settings) as service:
        for _ in outside.configs:
            outside.resource.hang()
        for channel_id, config in outside.configs.items():
            await asyncio.to_thread(
                service.create_instance,
                channelId=channel_id,
                channelName=channel_id,
                config={**config, "checkInterval": OFTEN},
                downStreamResourceId="workflow::7",
            )
        outside.happen()
        await until(lambda: len(outside.resource.asked) == 4)
        await asyncio.to_thread(service.kill_everything)
        assert outside.answers == (0, 0, 0, 0)
        await asyncio.to_thread(service.start)
        await until(lambda: min(outside.answers) > 0)
        enough = outside.looks + 3
        await until(lambda: outside.looks >= enough)
        assert outside.answers == (1, 1, 1, 1)
        await until(lambda: list(outside.imap.uids("UNSEEN")) == [])
        (reply,) = outside.smtp.mails
        assert (reply["Subject"], reply["In-Reply-To"]) == ("Re: Hours", "<1@client.example>")
        ((thread, mail),) = outside.gmail.sent
        assert (thread, mail["Subject"]) == ("thread-m1", "Re: Question")
        ((metadata, _, content),) = outside.drive.uploaded
        assert metadata["name"] == "plan.txt - answer.txt"
        assert content.decode().startswith("Noted: File updated: plan.txt at https://drive.google.com/")
        ((model, _, note),) = outside.odoo.notes
        assert (model, "Odoo create event in res.partner" in note["body"]) == ("res.partner", True)
