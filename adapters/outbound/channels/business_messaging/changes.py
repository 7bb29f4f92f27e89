"""People who are known by another number or id from now on. Pure.

A person who changes the number also gets another business-scoped id. Meta tells of both in system messages of the
field 'messages' (https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages/system);
some providers hand on a field 'user_id_update' of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from adapters.outbound.channels.common.bodies import at, items, text
from domain.channels.messages import SessionRename

_CHANGES = ("user_changed_number", "customer_changed_number", "user_changed_user_id")


def moves_of(value: Mapping[str, Any]) -> Iterator[SessionRename]:
    """The moves that a change's value tells of."""
    for message in items(value, "messages"):
        if text(message, "type") == "system" and text(message, "system", "type") in _CHANGES:
            yield from _move(_former(message), _present(at(message, "system")))
    told = at(value, "user_id_update")
    for update in told if isinstance(told, list) else [told]:
        yield from _updated(update)


def _former(message: Any) -> str:
    system = at(message, "system")
    return text(message, "from") or text(system, "previous_user_id") or text(message, "from_user_id")


def _present(system: Any) -> str:
    return text(system, "wa_id") or text(system, "new_wa_id") or text(system, "user_id")


def _updated(update: Any) -> Iterator[SessionRename]:
    """Who shows a number is known by it: another id changes nothing."""
    if not text(update, "wa_id"):
        ids = at(update, "user_id") if isinstance(at(update, "user_id"), Mapping) else update
        yield from _move(text(ids, "previous"), text(ids, "current"))


def _move(previous: str, current: str) -> Iterator[SessionRename]:
    if previous and current and previous != current:
        yield SessionRename(previous, current)
