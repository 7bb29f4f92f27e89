"""What is told of an instance's health, from what is on record."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from adapters.outbound.channels.erp_events.config import DEFINITION
from adapters.outbound.channels.tests.calls import a_channel
from domain.instances.health import health_of
from domain.instances.model import UNREADABLE, Activity, ActivityHealth, Health, Instance
from ports.instances import HealthRecord

SAVED = datetime(2026, 1, 1, tzinfo=UTC)


def at(minutes: float) -> datetime:
    return SAVED + timedelta(minutes=minutes)


def health(
    activities: dict[Activity, ActivityHealth], *, pending: int = 0, dead: int = 0, error: str | None = None
) -> Health:
    return of(HealthRecord(webhook_error=error, activities=activities), pending=pending, dead=dead)


def of(record: HealthRecord, *, pending: int = 0, dead: int = 0) -> Health:
    instance = Instance(1, "ann", "erp-events", "Odoo", {}, "agent::a", SAVED, SAVED)
    channel: Any = replace(a_channel(), definition=DEFINITION)
    return health_of(instance, channel, record, {"waiting": 0, "pending": pending, "dead": dead})


def failing(found: Health) -> list[Activity]:
    return [activity for activity, state in found.activities.items() if not state.healthy]


FAILED = ActivityHealth(last_success=at(1), last_error="refused", last_error_at=at(2))
WORKED = ActivityHealth(last_success=at(3))


@pytest.mark.parametrize("activity", Activity)
@pytest.mark.parametrize("other", Activity)
def test_no_success_of_another_activity_makes_up_for_a_failure(activity: Activity, other: Activity) -> None:
    found = health({other: WORKED, activity: FAILED}, dead=1)
    assert not found.healthy
    assert failing(found) == [activity]
    assert (found.last_error, found.last_error_at, found.last_success) == ("refused", at(2), at(1))


@pytest.mark.parametrize("activity", Activity)
def test_its_own_success_makes_up_for_a_failure(activity: Activity) -> None:
    found = health({activity: ActivityHealth(at(3), "refused", at(2))}, dead=1)
    assert found.healthy
    assert (found.last_error, found.last_error_at, found.last_success) == ("refused", at(2), at(3))


@pytest.mark.parametrize("activity", Activity)
def test_saving_the_instance_ends_the_failure_of_what_it_was(activity: Activity) -> None:
    found = health({activity: ActivityHealth(last_error="refused", last_error_at=at(-1))}, dead=1)
    assert found.healthy
    assert found.activities[activity].last_error == "refused"


def test_replies_that_failed_are_forgotten_once_all_were_dropped() -> None:
    assert not health({Activity.SENDING: FAILED}, dead=1).healthy
    assert not health({Activity.SENDING: FAILED}, pending=1).healthy
    assert health({Activity.SENDING: FAILED}).healthy


def test_the_latest_failure_is_told_first() -> None:
    later = ActivityHealth(last_error="timed out", last_error_at=at(5))
    assert health({Activity.PROCESSING: FAILED, Activity.RECEIVING: later}).last_error == "timed out"


def test_what_was_found_at_the_try_of_a_configuration_stands_until_a_reply_went_out() -> None:
    polled = health({Activity.RECEIVING: WORKED}, error="no e-mail address")
    assert any("no e-mail address" in each for each in polled.warnings)
    assert health({Activity.SENDING: WORKED}, error="no e-mail address").healthy


@pytest.mark.parametrize(
    ("record", "words"),
    [
        (HealthRecord(idle_seconds=61, waiting_seconds=61), "check that one is running"),
        (HealthRecord(looping=True), "stopped a loop"),
        (HealthRecord(waiting_seconds=420), "is 7 minutes old"),
        (HealthRecord(breaker="open", breaker_reason="502"), "the platform does not answer: 502"),
    ],
)
def test_what_stands_still_is_not_healthy(record: HealthRecord, words: str) -> None:
    found = of(record)
    assert not found.healthy
    assert words in found.warnings[0]


def test_what_waits_for_a_moment_is_healthy() -> None:
    assert of(HealthRecord(idle_seconds=2, waiting_seconds=200)).healthy


def test_nothing_is_known_of_a_new_instance() -> None:
    found = health({})
    assert found.healthy
    assert (found.last_success, found.last_error, found.last_error_at) == (None, None, None)


class Connector:
    def wants(self, config: object, registration: object) -> bool:
        return registration == {"connection": "polling"}

    def note(self, config: object, registration: object) -> str:
        return "Messages are fetched"


def test_how_messages_come_in_is_a_note_and_no_warning() -> None:
    channel: Any = a_channel(connector=Connector())
    instance = Instance(1, "ann", "any", "Bot", {}, "agent::a", SAVED, SAVED)
    queue = {"waiting": 0, "pending": 0, "dead": 0}
    polled = health_of(instance, channel, HealthRecord(registration={"connection": "polling"}), queue)
    assert (polled.healthy, polled.notes) == (True, ("Messages are fetched",))
    assert health_of(instance, channel, HealthRecord(), queue).notes == ()
    unreadable = replace(instance, status=UNREADABLE)
    record = HealthRecord(registration={"connection": "polling"})
    assert health_of(unreadable, channel, record, queue).notes == ()
