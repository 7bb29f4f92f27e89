"""Config fields and steps of setting up that channels share."""

import re
from typing import Any

from domain.channels.typed import setting


def required(text: str, **options: Any) -> Any:
    """A field without which the channel cannot work. `options`: as of `setting`."""
    return setting(text, required=True, **options)


def credential(text: str) -> Any:
    """A required field that is a secret."""
    return setting(text, required=True, secret=True)


def ack_reaction(example: str) -> Any:
    """The field `ackReaction`; `example` is an emoji as the platform names it."""
    return setting(
        f"Emoji that is shown at a message while it is worked on, such as {example} (default none)."
    )


def reactions() -> Any:
    return setting(
        "Hand reactions of people on as messages with 'reaction' and without text (default false)."
    )


def steps(text: str) -> tuple[str, ...]:
    """The steps of a list in Markdown, each without its line breaks."""
    return tuple(" ".join(step.split()) for step in re.split(r"^ *- ", text, flags=re.MULTILINE)[1:])


def https_step(platform: str) -> str:
    """The first step where a platform calls the service and offers no other way."""
    return (
        f"{platform} calls the service, so it needs a public https address: put a reverse proxy with TLS in front "
        "of it ('caddy reverse-proxy --from agents.example.com --to localhost:3011'), or for a trial a tunnel "
        "('cloudflared tunnel --url http://localhost:3011'), and start it with AGENT_URL set to that address."
    )
