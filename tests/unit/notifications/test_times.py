"""When hours begin, and when mails of a day are sent."""

from datetime import UTC, datetime

import pytest

from domain.notifications.model import NotificationSettings
from domain.notifications.team_hours import first_there
from domain.routing.routes import Hours
from ports.notifications import TeamHours

BERLIN = "Europe/Berlin"


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


@pytest.mark.parametrize(
    ("hours", "now", "start"),
    [
        (Hours("09:00", "17:00"), "2026-03-02T10:00", "2026-03-02T10:00"),
        (Hours("09:00", "17:00"), "2026-03-02T08:59", "2026-03-02T09:00"),
        (Hours("09:00", "17:00"), "2026-03-02T17:00", "2026-03-03T09:00"),
        (Hours("09:00", "17:00", ("mon",)), "2026-03-02T17:00", "2026-03-09T09:00"),
        (Hours("09:00", "17:00", ("sun", "sat")), "2026-03-02T17:00", "2026-03-07T09:00"),
        (Hours("22:00", "06:00"), "2026-03-02T05:59", "2026-03-02T05:59"),
        (Hours("22:00", "06:00"), "2026-03-02T06:00", "2026-03-02T22:00"),
        (Hours("00:00", "24:00", ("tue",)), "2026-03-02T23:59", "2026-03-03T00:00"),
        (Hours("09:00", "17:00", (), BERLIN), "2026-03-28T20:00", "2026-03-29T07:00"),  # the clocks go on
        (Hours("02:30", "03:30", (), BERLIN), "2026-03-29T00:00", "2026-03-29T01:30"),  # there is no 02:30
        (Hours("09:00", "17:00", (), BERLIN), "2026-10-24T20:00", "2026-10-25T08:00"),  # and back
    ],
)
def test_hours_begin(hours: Hours, now: str, start: str) -> None:
    assert hours.next_start(at(now)) == at(start)


def test_the_mail_of_a_day_goes_by_the_clock_of_the_user() -> None:
    here = NotificationSettings()
    there = NotificationSettings(hours=Hours("09:00", "17:00", (), "Asia/Tokyo"))
    assert here.daily_after(at("2026-03-02T07:00"), 8) == at("2026-03-02T08:00")
    assert here.daily_after(at("2026-03-02T08:00"), 8) == at("2026-03-03T08:00")
    assert there.daily_after(at("2026-03-02T07:00"), 8) == at("2026-03-02T23:00")


def test_the_team_that_is_there_first_answers() -> None:
    late = TeamHours(1, Hours("10:00", "17:00"), "late")
    early = TeamHours(2, Hours("09:00", "17:00"), "early")
    silent = TeamHours(0, Hours("09:00", "17:00"), "")
    night = TeamHours(3, Hours("17:00", "09:00"), "night")
    now = at("2026-03-02T20:00")
    assert first_there([late, silent, early], now) == early
    assert first_there([late, night], now) is None
    assert first_there([], now) is None
