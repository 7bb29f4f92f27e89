"""The steps of cron.feature that are its own."""

import uuid

from pytest_bdd import given, parsers, scenarios, then, when

from tests.features.polling.conftest import Watch
from tests.support.waiting import until

CHANNEL_ID = "cron"
scenarios("cron.feature")


TIMES = {
    "every Monday at 9": "0 9 * * 1",
    "every day at 6": "0 6 * * *",
    "every day at 7:30": "30 7 * * *",
    "every minute": "* * * * *",
}
EXTRAS: dict[str | None, dict[str, object]] = {
    None: {},
    "switched on": {"enabled": True},
    "switched off": {"enabled": False},
    "in the time zone of Kolkata": {"timezone": "Asia/Kolkata"},
    "for verified users only": {"accessMode": "allowlist"},
    'with the secret "open sesame"': {"triggerSecret": "open sesame"},
    "for one execution": {"oneShot": True},
}
BODIES = {
    "nothing": b"",
    "no message": b"{}",
    'the message "Now!"': b'{"message": "Now!"}',
    "a number as its message": b'{"message": 5}',
    "text instead of an object": b"now",
}


@given(parsers.re(r"a schedule for (?P<time>[^,]+)(, (?P<setting>.+))?"))
def schedule(watch: Watch, time: str, setting: str | None) -> None:
    config = {"cronSchedule": TIMES[time], "message": "Count the tables.", **EXTRAS[setting]}
    assert watch.create(config).outcome == "created"


@when(parsers.parse("a schedule is asked for with the expression {expression}"))
def asked_for(watch: Watch, expression: str) -> None:
    watch.create({"cronSchedule": expression, "message": "x"})


@when("its time comes")
def time_comes(watch: Watch) -> None:
    watch.run_now()


@when("its time came two months ago")
def time_came(watch: Watch) -> None:
    watch.run_now(late="2 months")


@when(parsers.parse("it is updated to {time}"))
def updated(watch: Watch, time: str) -> None:
    config = {"cronSchedule": TIMES[time], "message": "Count the chairs."}
    watch.replies.append(watch.rest.update("ann", watch.id, {"config": config}))


@when("it is deleted")
def deleted(watch: Watch) -> None:
    watch.replies.append(watch.rest.delete("ann", watch.id))


@when(parsers.parse("it is triggered with {body}"))
def triggered(watch: Watch, body: str) -> None:
    watch.replies.append(watch.rest.call("cron", watch.id, BODIES[body], {}, "manual_trigger"))


@when(parsers.parse('somebody with the secret "{secret}" triggers it'))
def triggered_secretly(watch: Watch, secret: str) -> None:
    headers = {"X-Webhook-Secret": secret}
    watch.replies.append(watch.rest.call("cron", watch.id, b"", headers, "manual_trigger"))


@when(parsers.parse('its callback "{callback}" is called'))
def called(watch: Watch, callback: str) -> None:
    watch.replies.append(watch.rest.call("cron", watch.id, b"", {}, callback))


@then("it says that it is accepted, with a request id")
def says_accepted(watch: Watch) -> None:
    body = watch.replies[-1].body
    assert set(body) == {"status", "requestId"}
    assert body["status"] == "accepted"
    uuid.UUID(body["requestId"])


@then("it is planned again for a Monday at 9")
def planned_monday(watch: Watch) -> None:
    assert (watch.next_run.isoweekday(), watch.next_run.hour, watch.next_run.minute) == (1, 9, 0)
    assert watch.next_run > watch.world.clock.now()


@then(parsers.parse("it is planned for {time} UTC"))
def planned_at(watch: Watch, time: str) -> None:
    assert f"{watch.next_run:%H:%M}" == time


@then("it is not planned")
def not_planned(watch: Watch) -> None:
    assert watch.next_run is None


@then("the instance is gone")
def gone(watch: Watch) -> None:
    until(lambda: watch.rest.instance("ann", watch.id).outcome == "not found", "the instance removes itself")
    assert watch.rest.instances("ann").body == []


@then(parsers.parse("the error names {words}"))
def error_names(watch: Watch, words: str) -> None:
    assert words in watch.replies[-1].error
    assert "cronSchedule" in watch.replies[-1].error
