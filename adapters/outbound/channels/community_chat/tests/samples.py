"""What the contract suite needs of this channel."""

from __future__ import annotations

import json
from pathlib import Path

from adapters.outbound.channels.tests.sample import Sample
from adapters.outbound.channels.tests.support import call
from domain.channels.messages import Attachment

FIXTURES = Path(__file__).parents[1] / "fixtures"
POST = json.loads((FIXTURES / "outgoing_webhook.json").read_text())
COMMAND = json.loads((FIXTURES / "slash_command.json").read_text())

SAMPLE = Sample(
    fields=(
        "SERVER_URL string R, channelId string R, token string R, webhookToken string, "
        "identifyUsers boolean, accessMode string, "
        "mergeSeconds number, transcribe boolean"
    ),
    typing_shown_seconds=5.0,
    attachment=Attachment("a.png", "image/png", {"fileId": "f1"}),
    config={
        "SERVER_URL": "https://chat.example",
        "channelId": "d4n8hq2xw7z1m5kfr9ty3bdjpa",
        "token": "t0kenoftheapiq9m4w8d2hr6tb",
        "webhookToken": POST["token"],
    },
    genuine={"post": call(as_json=POST), "form": call(form=POST), "command": call(form=COMMAND)},
    forged={
        "token": call(as_json={**POST, "token": "p7w4xk1mq9d3f8zrh6tbnc5yaX"}),
        "no token": call(as_json={**POST, "token": ""}),
    },
    target={"channel": "c4n8hq2xw7z1m5kfr9ty3bdjpa", "root": ""},
    shown=lambda part: str(part.payload["message"]),
)
