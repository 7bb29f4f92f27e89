"""The steps of team_hours.feature."""

from datetime import timedelta

from pytest_bdd import given, parsers, scenarios, then

from adapters.outbound.channels.bot_messenger.tests import samples
from tests.features.notifications.conftest import Scene

EDGE = samples.SETTING
scenarios("team_hours.feature")


@given(parsers.parse('{name} works from {start} to {end} and answers "{text}" else'))
def hours(scene: Scene, name: str, start: str, end: str, text: str) -> None:
    given_hours = {"from": start, "to": end, "timeZone": "Asia/Tokyo"}
    team = scene.do("PUT", _path(scene, name), "admin", {"hours": given_hours, "awayText": text})
    assert (team["hours"]["from"], team["awayText"]) == (start, text)


def _path(scene: Scene, name: str) -> str:
    return f"/api/agent/teams/{scene.teams[name]}"


@given(parsers.parse("the hours of {name} are taken away"))
def no_hours(scene: Scene, name: str) -> None:
    assert scene.do("PUT", _path(scene, name), "admin", {"name": name})["hours"] is not None
    assert scene.do("PUT", _path(scene, name), "admin", {"hours": None})["hours"] is None


@given(parsers.parse("it is {hour:d}:{minute:d} for the team"))
def time(scene: Scene, hour: int, minute: int) -> None:
    scene.at(hour, minute)


@then(parsers.parse('ada has got "{first}" and "{second}"'))
def got_both(scene: Scene, first: str, second: str) -> None:
    scene.work()
    assert scene.got("ada") == [first, second]


@then(parsers.parse('ada has got "{text}" alone'))
def got_alone(scene: Scene, text: str) -> None:
    scene.work()
    assert scene.got("ada") == [text]


@then("ada has got the text of the team once")
def got_once(scene: Scene) -> None:
    scene.work()
    assert scene.got("ada").count("We are back at nine.") == 1


@then("the conversation waits until the team is there")
def waits(scene: Scene) -> None:
    [conversation] = scene.conversations()
    assert conversation["handler"] == "person"
    held = scene.value("SELECT held_until FROM queue WHERE kind = 0")
    assert held - scene.world.clock.now() > timedelta(hours=14, minutes=29)


@given(parsers.parse("bob leads {name}"))
def leads(scene: Scene, name: str) -> None:
    scene.do("PUT", _path(scene, name), "admin", {"members": [{"userId": "bob", "lead": True}]})


@then(parsers.parse("bob can set hours and text of {name}"))
def can_set(scene: Scene, name: str) -> None:
    body = {"hours": {"days": ["mon", "tue"], "from": "08:00", "to": "12:00"}, "awayText": " Later. "}
    team = scene.do("PUT", _path(scene, name), "bob", body)
    assert team["hours"] == {"days": ["mon", "tue"], "from": "08:00", "to": "12:00", "timeZone": "UTC"}
    assert team["awayText"] == "Later."
    assert scene.do("PUT", _path(scene, name), "bob", {"awayText": ""})["awayText"] == ""


@then("hours that are none are refused")
def refused(scene: Scene) -> None:
    for faulty in ({"from": "8", "to": "12:00"}, {"from": "08:00", "to": "12:00", "timeZone": "Nowhere"}):
        response = scene.ask("PUT", _path(scene, "Support"), "bob", json={"hours": faulty})
        assert response.status_code == 400, response.text
        assert "hours." in response.json()["error"]
