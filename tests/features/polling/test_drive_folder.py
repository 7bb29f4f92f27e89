"""The steps of drive_folder.feature that are its own."""

from typing import Any

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.drive_folder import push
from adapters.outbound.channels.drive_folder.config import CONFIG as MODEL
from adapters.outbound.channels.tests.support import NOW
from tests.features.polling.conftest import Watch
from tests.support.platforms.drive import CLIENT, FOLDER, Drive
from tests.support.waiting import until

CHANNEL_ID = "drive-folder"
PLATFORM = Drive
SETTING = "DRIVE_FOLDER_API_URL GOOGLE_TOKEN_URL"
CONFIG: dict[str, Any] = {**CLIENT, "folderId": FOLDER}
scenarios("drive_folder.feature")


@pytest.fixture
def drive(watch: Watch) -> Drive:
    platform = watch.platform.platform
    assert isinstance(platform, Drive)
    return platform


@given(parsers.parse('"{name}" in the folder'))
@when(parsers.parse('"{name}" is put into the folder'))
def put(drive: Drive, name: str) -> None:
    drive.contents[drive.put(name)] = b"content"


@given("a server that keeps no properties")
def keeps_no_properties(drive: Drive) -> None:
    drive.keeps_properties = False


@given("a watch on a folder")
def watching(watch: Watch) -> None:
    reply = watch.create(CONFIG)
    assert "webhookRegistered" not in reply.body  # that is for bot-messenger alone
    watch.begin()


@given(parsers.parse("a watch on a folder for {types}"))
def watching_types(watch: Watch, types: str) -> None:
    watch.create({**CONFIG, "fileTypes": types})
    watch.begin()


@when(parsers.parse('"{name}" is changed'))
def changed(drive: Drive, name: str) -> None:
    (file_id,) = [each["id"] for each in list(drive.files.values()) if each["name"] == name]
    drive.change(file_id)


@when("the answer has been written")
def written(watch: Watch, drive: Drive) -> None:
    assert watch.platform.wait_until(lambda: bool(drive.uploaded))
    until(watch.has_answered, "the answer is on record as sent")


@when("access is revoked")
def revoked(drive: Drive) -> None:
    drive.grant_error = "invalid_grant"
    drive.tokens.clear()


@when(parsers.parse("Google reports a {state}"))
def reported(watch: Watch, state: str) -> None:
    channel = push.channel(MODEL.load(CONFIG), "https://agents.example/webhook", NOW)
    _report(watch, state, channel["token"])


@when("somebody else reports a change")
def reported_falsely(watch: Watch) -> None:
    _report(watch, "change", "0" * 64)


def _report(watch: Watch, state: str, token: str) -> None:
    channel = push.channel(MODEL.load(CONFIG), "https://agents.example/webhook", NOW)
    headers = {
        "X-Goog-Channel-ID": channel["id"],
        "X-Goog-Channel-Token": token,
        "X-Goog-Resource-State": state,
    }
    watch.replies.append(watch.rest.call("drive-folder", watch.id, b"", headers, "webhook"))


@then(parsers.parse('the answer stands in "{name}"'))
def stands(watch: Watch, drive: Drive, name: str) -> None:
    assert watch.platform.wait_until(lambda: bool(drive.uploaded))
    ((metadata, _, content),) = drive.uploaded
    assert metadata["name"] == name
    assert content == b"Noted: File updated"


@then(parsers.parse('its health says "{words}"'))
def health_says(watch: Watch, words: str) -> None:
    def says() -> bool:
        health = watch.rest.health("ann", watch.id).body
        return words in str(health["lastError"]) and health["healthy"] is False

    until(says, f"the health says {words}")
