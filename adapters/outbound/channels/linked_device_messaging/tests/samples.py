"""What the contract suite needs of this channel."""

from __future__ import annotations

from adapters.outbound.channels.tests.sample import Sample

SAMPLE = Sample(
    fields=(
        "phoneNumber string R, allowedNumbers string, identifyUsers boolean, accessMode string, "
        "mergeSeconds number, transcribe boolean"
    ),
    typing_shown_seconds=10.0,
    config={"phoneNumber": "4915112345678"},
    target={"instance": 7, "chat": "4917012345678@s.whatsapp.net"},
    shown=lambda part: str(part.payload["text"]),
    over_http=False,
)
