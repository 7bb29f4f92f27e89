"""The events after which parts of pages fetch themselves anew."""

from __future__ import annotations

from domain.events import RESET, EventKind

CONVERSATION_KINDS = (
    EventKind.MESSAGE_RECEIVED,
    EventKind.MESSAGE_ANSWERED,
    EventKind.MESSAGE_FAILED,
    EventKind.DELIVERY_SENT,
    EventKind.DELIVERY_DEAD,
    EventKind.CONFIRMATION_ASKED,
    EventKind.CONFIRMATION_DECIDED,
    EventKind.CONVERSATION_HANDLER,
)
"""Kinds that tell of conversations."""

TOGETHER_MS = 50
"""Events come in batches: so long a part waits for further ones before it fetches itself."""


def live_trigger(kinds: tuple[str, ...]) -> str:
    """The value of `hx-trigger` for a part that shows what these events tell. Beside it stands
    `hx-sync="this:queue last"`: events that come while the part is being fetched have it fetched once more. What is
    swapped is its content, not the part itself: an element that is gone fetches nothing more. Links in it have ids,
    by which htmx gives the focus back."""
    return ", ".join(f"live:{kind} from:body delay:{TOGETHER_MS}ms" for kind in (*kinds, RESET))
