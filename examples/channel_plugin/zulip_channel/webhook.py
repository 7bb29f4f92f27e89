"""Reads the calls of Zulip's outgoing webhooks: https://zulip.com/api/outgoing-webhooks."""

from __future__ import annotations

from datetime import datetime

from adapters.outbound.channels.common.bodies import at, json_object, same, text
from adapters.outbound.channels.common.calls import json_answer, require_webhook
from domain.channels.messages import ChannelMetadata, Event, Identity, RawCall, Received, Sender
from domain.refusals import Invalid, Unauthenticated
from zulip_channel.config import TARGET, ZulipConfig, ZulipTarget


def receive(config: ZulipConfig, call: RawCall, metadata: ChannelMetadata, now: datetime) -> Received:
    """Verifies the token of the body. The empty object as answer tells Zulip that no reply comes in the call."""
    require_webhook(call)
    body = json_object(call.body)
    if not same(text(body, "token"), config.token):
        raise Unauthenticated("the token of the body is not the token of the instance")
    return Received(json_answer({}), (_event(body),))


def _event(body: dict[str, object]) -> Event:
    message_id, sender_id = at(body, "message", "id"), at(body, "message", "sender_id")
    if not isinstance(message_id, int) or not isinstance(sender_id, int):
        raise Invalid("message.id and message.sender_id must be numbers")
    channel = at(body, "message", "stream_id")
    target = ZulipTarget(to=sender_id, direct=True)
    if isinstance(channel, int):
        target = ZulipTarget(to=channel, topic=text(body, "message", "subject"))
    email = text(body, "message", "sender_email")
    name = text(body, "message", "sender_full_name")
    return Event(
        key=str(message_id),
        session_id=session_of(target, sender_id),
        sender=Sender(str(sender_id), name, (Identity("email", email),) if email else ()),
        text=text(body, "data"),
        target=TARGET.dump(target),
        is_direct=target.direct,
    )


def session_of(target: ZulipTarget, user: int) -> str:
    return f"{target.to}:{target.topic}:{user}"
