"""The steps of erp_events.feature that are its own."""

import pytest
from pytest_bdd import given, parsers, scenarios, then, when

from domain.routing import events as routing
from tests.features.polling.conftest import Resource, Watch
from tests.support.platforms import odoo
from tests.support.waiting import until

CHANNEL_ID = "erp-events"
PLATFORM = odoo.Odoo
scenarios("erp_events.feature")


@pytest.fixture
def server(watch: Watch) -> odoo.Odoo:
    platform = watch.platform.platform
    assert isinstance(platform, odoo.Odoo)
    return platform


@given(parsers.parse('the partner "{name}" in Odoo'))
def partner(server: odoo.Odoo, name: str) -> None:
    server.make(name)


@given(parsers.parse("a watch on partners with the events {events}"))
def watching(watch: Watch, server: odoo.Odoo, events: str) -> None:
    watch.create(
        {
            "erpUrl": "{platform}",
            "database": odoo.DATABASE,
            "username": odoo.LOGIN,
            "password": odoo.KEY,
            "models": "res.partner",
            "events": events,
        }
    )
    watch.begin()
    server.wait(minutes=1)


@when(parsers.parse('"{name}" is made in Odoo'))
def made(server: odoo.Odoo, name: str) -> None:
    server.make(name)


@when(parsers.parse('it is renamed to "{name}" in Odoo'))
def renamed(server: odoo.Odoo, name: str) -> None:
    server.change(1, name=name)


@given(parsers.parse("another client leaves {count:d} connections of Odoo's pool"))
def crowded(server: odoo.Odoo, count: int) -> None:
    server.pool, server.seconds = count, 0.02


@when(parsers.parse("{count:d} partners are imported into Odoo"))
def imported(server: odoo.Odoo, count: int) -> None:
    for number in range(count):
        server.make(f"Partner {number}")


@given(parsers.parse("Odoo's pool is full for the next {count:d} notes"))
def full(server: odoo.Odoo, count: int) -> None:
    server.full = count


@given("a rule in Odoo that changes each record that gets a note")
def rule(server: odoo.Odoo, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(routing, "WINDOW", 3600.0)  # a slow machine needs more than a minute for the rounds
    server.rule = True


@when("looks come until a change is not answered")
def looks(watch: Watch, server: odoo.Odoo) -> None:
    for _ in range(40):
        before = len(server.notes)
        watch.run_now()
        until(lambda: watch.is_failed() or len(server.notes) > before, "the look is worked off")  # noqa: B023
        if watch.is_failed():
            return
    raise AssertionError("all changes were answered")


@then(parsers.parse("the record has {count:d} notes"))
def has_notes(server: odoo.Odoo, count: int) -> None:
    assert len(server.notes) == count


@when("it is deleted in Odoo")
def deleted(server: odoo.Odoo) -> None:
    server.remove(1)


@when("the note has been written in the same second")
def noted(watch: Watch, server: odoo.Odoo) -> None:
    assert watch.platform.wait_until(lambda: bool(server.notes))


@when("the note has been written")
def noted_a_while_ago(watch: Watch, server: odoo.Odoo) -> None:
    noted(watch, server)
    server.wait(minutes=1)


@when("the API key is revoked")
def revoked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(odoo, "KEY", "another key")


@given("the user of the service has no e-mail address in Odoo")
def no_address(server: odoo.Odoo) -> None:
    server.email = ""


@when("the user gets an e-mail address")
def gets_address(server: odoo.Odoo) -> None:
    server.email = odoo.LOGIN


@given("a resource that refuses everything")
def resource_refuses(watch: Watch) -> None:
    _resource(watch).refuses = True


@when("the resource takes everything again")
def resource_takes(watch: Watch) -> None:
    _resource(watch).refuses = False


def _resource(watch: Watch) -> Resource:
    resource = watch.resource.platform
    assert isinstance(resource, Resource)
    return resource


@when("configurations that did not work are tried again")
def tried_again(watch: Watch) -> None:
    service = watch.world.container.channels().registration
    for instance_id in watch.world.run(service.to_be_checked()):
        watch.world.run(service.keep_registered(instance_id))


@then(parsers.parse('the answer to its creation says "{words}"'))
def creation_says(watch: Watch, words: str) -> None:
    assert words in watch.replies[-1].body["webhookError"]


@then(parsers.re("its health shows that (only (?P<activity>[a-z]+)|nothing) fails?"))
def fails(watch: Watch, activity: str | None) -> None:
    expected = [activity] if activity else []

    def shows() -> bool:
        health = watch.rest.health("ann", watch.id).body
        failing = [
            each for each in ("receiving", "processing", "sending") if health[each]["healthy"] is False
        ]
        return failing == expected and health["healthy"] is (activity is None)

    until(shows, f"the health shows that {expected or 'nothing'} fails")


@then(parsers.parse('the resource is told of a {event} event with "{name}"'))
def told(watch: Watch, event: str, name: str) -> None:
    head = f"Odoo {event} event in res.partner (ID: 1): {{"
    assert watch.resource.wait_until(lambda: bool(watch.asked))
    assert watch.asked[0].startswith(head)
    assert f'"name": "{name}"' in watch.asked[0]


@then("the resource is told of an unlink event with the id alone")
def told_of_deletion(watch: Watch) -> None:
    text = 'Odoo unlink event in res.partner (ID: 1): {"id": 1}'
    assert watch.resource.wait_until(lambda: text in watch.asked), watch.asked


@then(parsers.parse('the record gets the note "{words}"'))
def note(watch: Watch, server: odoo.Odoo, words: str) -> None:
    assert watch.platform.wait_until(lambda: bool(server.notes))
    ((model, record_id, written),) = server.notes
    assert (model, record_id) == ("res.partner", 1)
    assert words in written["body"]


@then(parsers.parse("all {count:d} partners get a note"))
def all_noted(watch: Watch, server: odoo.Odoo, count: int) -> None:
    assert watch.platform.wait_until(lambda: len(server.notes) >= count)
    assert {record_id for _, record_id, _ in server.notes} == set(range(1, count + 1))


@then(parsers.parse("Odoo has never seen more than {count:d} calls of ours at a time, and refused none"))
def few_at_a_time(server: odoo.Odoo, count: int) -> None:
    assert (server.most <= count, server.refused) == (True, 0)


@then(parsers.parse('its health says "{words}"'))
def health_says(watch: Watch, words: str) -> None:
    def says() -> bool:
        health = watch.rest.health("ann", watch.id).body
        return words in str(health["lastError"]) and health["healthy"] is False

    until(says, f"the health says {words}")
