"""When an album or a burst is whole, and as which message it is handed on."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from domain.channels.messages import Attachment, Event, Identity, Merge, Sender
from domain.channels.model import Proof
from domain.routing.bursts import LONGEST_SECONDS, QUIET_SECONDS, burst_of, joined, merged, settles_in
from ports.queue import Album, QueuedEvent

CONTEXTS = ({"language": "en"}, {"language": "de", "group": {"id": "7"}})
NOW = datetime(2026, 1, 1, tzinfo=UTC)


def picture(id: int, place: int | None, text: str = "", who: str = "ann", name: str = "") -> QueuedEvent:
    file = Attachment(name or f"{id}.jpg", "image/jpeg", {"id": id})
    event = Event(f"{id}", "s", Sender(who), text, {"to": id}, (file,), merge=Merge("a", place))
    return QueuedEvent(id, event, 0, NOW)


@pytest.mark.parametrize(
    ("age", "quiet", "seconds"),
    [
        (0.0, 0.0, QUIET_SECONDS),
        (1.0, 0.5, QUIET_SECONDS - 0.5),
        (LONGEST_SECONDS - 0.5, 0.0, 0.5),
        (LONGEST_SECONDS + 1, 0.0, -1.0),
    ],
)
def test_when_it_is_whole(age: float, quiet: float, seconds: float) -> None:
    assert settles_in(Album((), age, quiet)) == pytest.approx(seconds)


def test_an_album_that_is_quiet_is_whole() -> None:
    assert settles_in(Album((), QUIET_SECONDS + 1, QUIET_SECONDS)) <= 0


def test_files_in_their_order_and_captions_once() -> None:
    rows = [picture(1, 30, "Look"), picture(2, 10), picture(3, 20, "Here"), picture(4, 40, "Look")]
    whole = merged(rows[0], rows)
    assert [file.name for file in whole.event.attachments] == ["2.jpg", "3.jpg", "1.jpg", "4.jpg"]
    assert whole.event.text == "Here\n\nLook"
    assert (whole.id, whole.merged, whole.event.target) == (1, (2, 3, 4), {"to": 1})


def test_without_places_files_stand_as_they_came() -> None:
    rows = [picture(id, None) for id in (1, 2, 3)]
    assert [file.name for file in merged(rows[0], rows).event.attachments] == ["1.jpg", "2.jpg", "3.jpg"]


@pytest.mark.parametrize("others", [[], [picture(2, 20)]])
def test_a_message_whose_rest_came_since_it_was_leased_keeps_its_text(others: list[QueuedEvent]) -> None:
    whole = merged(picture(1, 10, "Look"), others)
    assert whole.event.text == "Look"
    assert whole.event.attachments[0].name == "1.jpg"
    assert whole.merged == tuple(row.id for row in others)


def test_an_edit_takes_the_place_of_what_it_edits() -> None:
    rows = [picture(1, 10, "Wrong"), picture(2, 20), picture(3, 10, "Right")]
    whole = merged(rows[0], rows)
    assert whole.event.text == "Right"
    assert [file.name for file in whole.event.attachments] == ["3.jpg", "2.jpg"]
    assert whole.merged == (2, 3)


def test_of_what_the_platform_tells_the_first_value_of_each_key_counts() -> None:
    rows = [picture(1, 10), picture(2, 20)]
    first, second = (replace(row.event, context=context) for row, context in zip(rows, CONTEXTS, strict=True))
    rows = [replace(rows[0], event=first), replace(rows[1], event=second)]
    whole = {"language": "en", "group": {"id": "7"}}
    assert merged(rows[0], rows).event.context == whole
    assert joined(rows).event.context == whole


def test_what_somebody_else_sent_is_left_out() -> None:
    rows = [picture(1, 10), picture(2, 20, "mine too", who="bob")]
    whole = merged(rows[0], rows)
    assert (whole.event.text, whole.merged) == ("", ())


def test_what_is_proved_by_somebody_else_is_not_joined_to_what_a_person_wrote() -> None:
    def written(id: int, proof: Proof, merge: Merge | None = None) -> QueuedEvent:
        sender = Sender("ann", identities=(Identity("phone", "+441632960001"),), proof=proof)
        return QueuedEvent(id, Event(f"{id}", "s", sender, f"text {id}", {}, merge=merge), 0, NOW)

    burst = [written(1, Proof.OWNER), written(2, Proof.PLATFORM)]
    assert burst_of(burst) == burst[:1]
    album = [written(1, Proof.OWNER, Merge("a", 1)), written(2, Proof.PLATFORM, Merge("a", 2))]
    assert merged(album[1], album).event.text == "text 2"
