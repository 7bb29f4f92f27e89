"""What the contract suite needs of this channel."""

from collections.abc import Callable

from adapters.outbound.channels.drive_folder import push
from adapters.outbound.channels.drive_folder.config import CONFIG as MODEL
from adapters.outbound.channels.tests.sample import Opening, Sample
from adapters.outbound.channels.tests.support import NOW, call
from domain.channels.messages import Attachment
from ports.http import HttpAnswer, HttpRequest
from tests.support.platforms.drive import CLIENT, FOLDER

CONFIG = {**CLIENT, "folderId": FOLDER}
CHANNEL = push.channel(MODEL.load(CONFIG), "https://switchboard.example/webhook", NOW)


def writes_into(folder: str) -> Callable[[HttpRequest], bool]:
    return lambda request: f'"parents": ["{folder}"]'.encode() in (request.content or b"")


SAMPLE = Sample(
    fields=(
        "clientId string R, clientSecret string R, refreshToken string R, folderId string R, "
        "checkInterval number, fileTypes string, webhookUrl string, knowledgeBaseId number"
    ),
    attachment=Attachment("a.pdf", "application/pdf", {"fileId": "f1", "export": ""}),
    config=CONFIG,
    forged={
        "no token": call(headers={"X-Goog-Channel-ID": CHANNEL["id"], "X-Goog-Resource-State": "change"}),
        "another channel": call(headers={"X-Goog-Channel-ID": "x", "X-Goog-Channel-Token": CHANNEL["token"]}),
    },
    target={"fileId": "file1", "name": "plan.pdf"},
    addresses={
        "DRIVE_FOLDER_API_URL": "https://www.googleapis.com",
        "GOOGLE_TOKEN_URL": "https://oauth2.googleapis.com/token",
    },
    prelude=[
        HttpAnswer(200, {}, b'{"access_token": "t", "expires_in": 3600}'),
        HttpAnswer(200, {}, b'{"files": []}'),
    ],
    openings=(
        Opening(FOLDER, FOLDER, writes_into(FOLDER)),
        Opening("1Reports", "1Reports", writes_into("1Reports")),
    ),
    no_addresses=("https://drive.google.com/drive/folders/1", "' in parents or '"),
)
