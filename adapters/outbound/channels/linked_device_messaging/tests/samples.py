"""What the contract suite needs of this channel."""

from __future__ import annotations

from tests.support.channel_samples import Sample

SAMPLE = Sample(
    config={"phoneNumber": "4915112345678"},
    target={"instance": 7, "chat": "4917012345678@s.whatsapp.net"},
    shown=lambda part: str(part.payload["text"]),
    over_http=False,
)
