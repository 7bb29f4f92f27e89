"""Buttons of posts on Mattermost, and the calls of the server that tell of a press. Pure.

Source: https://developers.mattermost.com/integrate/plugins/interactive-messages/
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from adapters.outbound.channels.common.bodies import at, same, text
from adapters.outbound.channels.common.calls import json_answer, signature
from adapters.outbound.channels.common.messages import cut_labels, pressed_text
from adapters.outbound.channels.community_chat.config import (
    TARGET,
    MattermostConfig,
    MattermostTarget,
    session_of,
)
from domain.channels.messages import Event, Identity, Received, Sender
from domain.refusals import Invalid, Unauthenticated

ACKNOWLEDGED = json_answer({})
LONGEST_LABEL = 100
"""Our choice: a longer button does not fit into a line."""
_PURPOSE = "button of a post"
_SIGNED = ("choice", "label", "channel", "root")


def attached(
    config: MattermostConfig, target: MattermostTarget, callback_url: str, choices: Sequence[tuple[str, str]]
) -> dict[str, Any]:
    """The properties of a post with these buttons. The server sends the signed context of a button with its press; it
    shows it to nobody."""
    labels = cut_labels([label for label, _ in choices], LONGEST_LABEL)
    actions = []
    for number, (label, (_, value)) in enumerate(zip(labels, choices, strict=True), start=1):
        context = {"choice": value, "label": label, "channel": target.channel, "root": target.root}
        integration = {"url": callback_url, "context": {**context, "signature": _signature(config, context)}}
        action = {"id": f"choice{number}", "type": "button", "name": label, "integration": integration}
        actions.append(action)
    return {"attachments": [{"fallback": ", ".join(labels), "actions": actions}]}


def is_press(payload: Mapping[str, Any]) -> bool:
    return isinstance(payload.get("context"), Mapping)


def read_press(config: MattermostConfig, payload: Mapping[str, Any]) -> Received:
    """The press of a button. Raises `Unauthenticated` for a context that we did not sign, `Invalid`."""
    context = at(payload, "context")
    if not same(text(context, "signature"), _signature(config, context)):
        raise Unauthenticated(
            "The signature of the button's context is wrong: the service did not make this button."
        )
    user, value = text(payload, "user_id"), text(context, "choice")
    if not user or not value:
        raise Invalid("user_id and context.choice: a press needs both.")
    channel, trigger = text(context, "channel"), text(payload, "trigger_id")
    target = MattermostTarget(
        channel=channel,
        root=text(context, "root"),
        prompt=text(payload, "post_id"),
        user_name=text(payload, "user_name"),
    )
    direct = "__" in text(payload, "channel_name")
    if not direct and not config.allows(channel):
        return Received(ACKNOWLEDGED, kind="ignored:channel")
    event = Event(
        key=f"press:{trigger}" if trigger else None,
        session_id=session_of(channel, user, "" if direct else target.root),
        sender=Sender(user, target.user_name, (Identity("community-chat", user),)),
        text=pressed_text(text(context, "label"), value),
        target=TARGET.dump(target),
        choice=value,
        is_direct=direct,
    )
    return Received(ACKNOWLEDGED, events=(event,), kind="action")


def _signature(config: MattermostConfig, context: object) -> str:
    signed = [_PURPOSE, *(text(context, name) for name in _SIGNED)]
    return signature(config.token, json.dumps(signed).encode())
