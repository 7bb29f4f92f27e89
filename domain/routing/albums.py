"""Messages that a platform sends as several events, such as an album of pictures: when one is whole, and as what."""

from collections.abc import Sequence
from dataclasses import replace

from domain.channels.context import merged as merged_context
from domain.routing.bursts import same_sender
from ports.inbox import Album, QueuedEvent

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
    latest = {_place(row): row for row in own}
    events = [latest[place].event for place in sorted(latest)]
    captions = dict.fromkeys(event.text for event in events if event.text)
    whole = replace(
        first.event,
        text="\n\n".join(captions),
        attachments=tuple(file for event in events for file in event.attachments),
        quoted=next((event.quoted for event in events if event.quoted), None),
        context=merged_context(event.context for event in events),
    )
    return replace(first, event=whole, merged=tuple(row.id for row in own if row.id != first.id))


def _place(row: QueuedEvent) -> tuple[int, int]:
    """Without a place of the platform's the rows stand as they came."""
    place = row.event.merge.place if row.event.merge else None
    return (0, row.id) if place is None else (place, 0)
