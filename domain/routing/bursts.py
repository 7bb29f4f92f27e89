"""Joins messages that are answered as one: bursts of one sender (`mergeSeconds`), and albums."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, takewhile

from domain.channels.context import merged as merged_context
from domain.channels.messages import Event
from ports.queue import Album, QueuedEvent

LONGEST = 10
"""After so many times `mergeSeconds` a burst is taken up as it is, however quickly its sender goes on."""


def burst_of(rows: Sequence[QueuedEvent]) -> Sequence[QueuedEvent]:
    """The messages at the head of a conversation that may be joined: of one sender, and nothing in between."""
    return list(takewhile(lambda row: is_joinable(row.event) and same_sender(row.event, rows[0].event), rows))


def same_sender(event: Event, other: Event) -> bool:
    """Return True if both are of one sender, and proved alike: what somebody else says in a person's name must not be
    handed on as the person's."""
    sender, other_sender = event.sender, other.sender
    return (sender.external_id, sender.verified_by) == (other_sender.external_id, other_sender.verified_by)


def is_joinable(event: Event) -> bool:
    """Return True if a person wrote the event. Pressed buttons and calls that wait for an answer are never joined,
    and albums have rules of their own."""
    stays_alone = (
        event.choice,
        event.reaction,
        event.canned_reply,
        event.awaits_reply,
        event.unreadable,
        event.merge and not event.is_partial,
    )
    return not (any(stays_alone) or event.only_decides)


def burst_settles_in(queued: Album, burst: Sequence[QueuedEvent], seconds: float) -> float:
    """Seconds until the burst is whole; 0 or less when it is, as when something else follows it."""
    if not burst or len(burst) < len(queued.rows):
        return 0.0
    return min(seconds - queued.quiet, LONGEST * seconds - queued.age)


def joined(burst: Sequence[QueuedEvent]) -> QueuedEvent:
    """One event for all, in the place of the first: the texts one below the other, and all files.

    It has the request id and the target of the last one: a burst that has grown since an earlier try is another
    request, and the answer goes to what was written last.
    """
    events = [row.event for row in burst]
    joined_event = replace(
        events[-1],
        text="\n".join(event.text for event in events if event.text),
        attachments=tuple(file for event in events for file in event.attachments),
        ids=tuple(id for event in events for id in event.ids),
        context=merged_context(event.context for event in events),
    )
    return replace(burst[0], event=joined_event, merged=tuple(row.id for row in burst[1:]))


QUIET_SECONDS = 1.2
"""An album is whole when nothing of it has come for so long: platforms send its pictures within about a second."""
LONGEST_SECONDS = 5.0
"""After so many seconds an album is taken up as it is."""


def settles_in(album: Album) -> float:
    """Seconds until the album is whole; 0 or less when it is."""
    return min(QUIET_SECONDS - album.quiet, LONGEST_SECONDS - album.age)


def merged(first: QueuedEvent, rows: Sequence[QueuedEvent]) -> QueuedEvent:
    """One event for all rows of the album, in the place of `first`: all files, the captions one below the other, and
    the first message that one of them replies to.

    A row in the place of an earlier one is an edit, which counts in its stead. What somebody else sent is left out.
    `first` counts as it was leased where `rows` lack it: since then its rest has come, or it was withdrawn.
    """
    own = [row for row in rows if same_sender(row.event, first.event)]
    if all(row.id != first.id for row in own):
        own.insert(0, first)
    latest = {_place(row): row.event for row in own}
    events = [*map(latest.__getitem__, sorted(latest))]
    captions = dict.fromkeys(event.text for event in events if event.text)
    album = replace(
        first.event,
        text="\n\n".join(captions),
        attachments=tuple(chain.from_iterable(event.attachments for event in events)),
        quoted=next((event.quoted for event in events if event.quoted), None),
        context=merged_context(event.context for event in events),
    )
    return replace(first, event=album, merged=tuple(row.id for row in own if row.id != first.id))


def _place(row: QueuedEvent) -> tuple[int, int]:
    """Without a place of the platform's the rows stand as they came."""
    place = row.event.merge.place if row.event.merge else None
    return (0, row.id) if place is None else (place, 0)
