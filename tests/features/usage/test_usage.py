"""The steps of usage.feature. The model server and the program are stand-ins on the loopback interface."""

import csv
import io
from typing import Any

import pytest
from aiohttp import web
from pytest_bdd import given, parsers, scenarios, then, when

from tests.drivers.ways import INSTANCES
from tests.features.usage.conftest import Scene
from tests.support.model_server import calling, text
from tests.support.waiting import until

USAGE, KB = "/api/agent/usage", "/api/agent/kb"
scenarios("usage.feature")


def ask(scene: Scene, user: str, **query: Any) -> None:
    scene.reply = scene.rest.request("GET", USAGE, user, params=query)


def usage_of(scene: Scene, user: str, **query: Any) -> list[dict[str, Any]]:
    """Of all days: a month may end while a scenario runs."""
    ask(scene, user, **{"from": "2020-01-01", **query})
    assert scene.reply.status_code == 200, scene.reply.text
    return list(scene.reply.json()["usage"])


@given(parsers.parse("{user}'s bot answers from a program that takes 100 tokens read and 20 written"))
def has_program(scene: Scene, user: str) -> None:
    scene.open(user, "agent::program")


@given("the model streams")
def streams(scene: Scene) -> None:
    scene.load(stream=True)


@given("the model streams, and breaks off once")
def breaks_off(scene: Scene) -> None:
    scene.load(stream=True)
    scene.model.breaks_off = 1


@given("the model rings a bell before it answers")
def rings(scene: Scene) -> None:
    scene.model.replies += [calling("ring"), text("The bell rang.")]


@given("the model rings a bell, fails, and answers when it is asked again")
def fails(scene: Scene) -> None:
    scene.model.replies += [calling("ring"), web.Response(status=500)]


@given("the model writes nothing")
def writes_nothing(scene: Scene) -> None:
    scene.model.replies.append({"role": "assistant", "content": ""})


@given("the model thinks until its tokens are used up")
def thinks(scene: Scene) -> None:
    choice = {"index": 0, "message": text(""), "finish_reason": "length"}
    usage = {"prompt_tokens": 9, "completion_tokens": 4, "total_tokens": 13}
    scene.model.replies.append(web.json_response({"choices": [choice], "usage": usage}))


@given("ada writes on 5 days")
def writes_on_days(scene: Scene) -> None:
    for _ in range(5):
        days_pass(scene, 1)
        scene.write("ada", "hello")


@when(parsers.parse('ada writes "{words}" to both bots'))
def writes_to_both(scene: Scene, words: str) -> None:
    scene.write("ada", words)
    scene.write("ada", words, "zoe")


@given("a model answers from zoe's knowledge base")
def has_base(scene: Scene) -> None:
    made = scene.rest.request("POST", KB, "zoe", json={"name": "Manuals"})
    assert made.status_code == 201, made.text
    scene.base_id = made.json()["id"]


@when(parsers.parse('zoe asks her knowledge base "{words}"'))
def asks_base(scene: Scene, words: str) -> None:
    path = f"{KB}/{scene.base_id}/ask"
    assert scene.rest.request("POST", path, "zoe", json={"question": words}).status_code == 200


@when(parsers.parse('zoe tries the agent with "{words}"'))
def tries(scene: Scene, words: str) -> None:
    body = {"downStreamResourceId": "agent::small", "text": words, "ask": True}
    reply = scene.rest.request("POST", "/api/agent/resources/try", "zoe", json=body)
    assert reply.json()["answer"]["text"] == "good day"


@when("three days pass")
def three_days_pass(scene: Scene) -> None:
    days_pass(scene, 3)


def days_pass(scene: Scene, days: int) -> None:
    """The sums take their days from the server: those that are there become older."""
    usage_of(scene, "admin")  # runs are added to the sums before these are read
    scene.execute(f"UPDATE usage SET day = day - {days}")


@when("zoe asks for the usage of ann's instance")
def asks_for_other(scene: Scene) -> None:
    ask(scene, "zoe", instanceId=scene.instances["ann"])


@when("ann asks for her usage by the weather")
def asks_by_weather(scene: Scene) -> None:
    ask(scene, "ann", by="weather")


@when("ann asks for her usage from yesterday on")
def asks_from_yesterday(scene: Scene) -> None:
    ask(scene, "ann", **{"from": "yesterday"})


@when("the conversation is erased")
def erases(scene: Scene) -> None:
    path = f"{INSTANCES}/{scene.instances['ann']}/conversations/ada"
    reply = scene.rest.request("DELETE", path, "ann")
    assert reply.status_code == 204, reply.text


def _runs(count: str) -> int:
    return int(count.split()[0])


@then(
    parsers.re(
        r"ann's usage is (?P<runs>\d+ runs?), (?P<read>\d+) tokens read, (?P<written>\d+) written"
        r" and (?P<cost>[\d.]+) EUR"
    )
)
def costs(scene: Scene, runs: str, read: str, written: str, cost: str) -> None:
    [usage] = usage_of(scene, "ann", by="instance")
    assert usage["instanceId"] == scene.instances["ann"]
    assert [usage["runs"], usage["inputTokens"], usage["outputTokens"]] == [
        _runs(runs),
        int(read),
        int(written),
    ]
    assert [usage["cost"], usage["currency"]] == [pytest.approx(float(cost)), "EUR"]
    assert usage["seconds"] > 0


@then(
    parsers.re(
        r"ann's usage is (?P<runs>\d+ runs?), (?P<read>\d+) tokens read and (?P<written>\d+) written,"
        r" without a price"
    )
)
def takes(scene: Scene, runs: str, read: str, written: str) -> None:
    [usage] = usage_of(scene, "ann")
    assert [usage["runs"], usage["inputTokens"], usage["outputTokens"]] == [
        _runs(runs),
        int(read),
        int(written),
    ]
    assert [usage["cost"], usage["currency"]] == [0, None]


@then("zoe's own line has 1 run, 9 tokens read, 4 written and 0.000058 EUR")
def has_own_line(scene: Scene) -> None:
    lines: list[dict[str, Any]] = []

    def is_there() -> bool:
        lines[:] = usage_of(scene, "zoe", by="instance,user")
        return bool(lines)

    until(is_there, "the usage is added")
    [usage] = lines
    assert [usage["instanceId"], usage["userId"], usage["runs"]] == [0, "zoe", 1]
    assert [usage["inputTokens"], usage["outputTokens"], usage["currency"]] == [9, 4, "EUR"]
    assert usage["cost"] == pytest.approx(0.000058)


@then("ann has no usage")
def has_none(scene: Scene) -> None:
    assert usage_of(scene, "ann") == []


@then(parsers.parse('{user} sees one line, with her instance, "{resource}" and the user "{name}"'))
def sees_line(scene: Scene, user: str, resource: str, name: str) -> None:
    [usage] = usage_of(scene, user, by="instance,agent,user")
    assert [usage["instanceId"], usage["resourceId"], usage["userId"], usage["day"]] == [
        scene.instances[user],
        resource,
        name,
        None,
    ]


@then("the admin sees both lines")
def sees_both(scene: Scene) -> None:
    lines = usage_of(scene, "admin", by="instance,agent,user")
    assert {line["userId"] for line in lines} == {"ann", "zoe"}


@then("ann sees two days, three days apart")
def sees_days(scene: Scene) -> None:
    first, second = (usage["day"] for usage in usage_of(scene, "ann"))
    assert int(second[-2:]) - int(first[-2:]) == 3 or second[:7] != first[:7]


@then("of the first day alone ann sees 1 run")
def sees_first_day(scene: Scene) -> None:
    day = usage_of(scene, "ann")[0]["day"]
    [usage] = usage_of(scene, "ann", **{"from": day, "to": day})
    assert usage["runs"] == 1


@then("ann sees the 5 days in pages of 2")
def sees_pages(scene: Scene) -> None:
    days, cursor = [], ""
    for size in (2, 2, 1):
        page = usage_of(scene, "ann", limit=2, cursor=cursor)
        assert len(page) == size
        days += [usage["day"] for usage in page]
        cursor = scene.reply.json()["next"] or ""
    assert not cursor
    assert days == sorted(set(days))


@then(parsers.parse("the admin still sees {read:d} tokens read"))
def admin_still_sees(scene: Scene, read: int) -> None:
    until(lambda: [line["inputTokens"] for line in usage_of(scene, "admin")] == [read], "the usage stays")


@then(parsers.parse('ann\'s file by {way} has the line of "{resource}" with {read:d} tokens read'))
def has_file(scene: Scene, way: str, resource: str, read: int) -> None:
    if way == "its format":
        ask(scene, "ann", by="agent", format="csv")
    else:
        headers = {"accept": "text/csv"}
        scene.reply = scene.rest.request("GET", USAGE, "ann", params={"by": "agent"}, headers=headers)
    assert scene.reply.headers["content-type"].startswith("text/csv")
    [line] = csv.DictReader(io.StringIO(scene.reply.text))
    assert [line["resourceId"], line["inputTokens"], line["currency"]] == [resource, str(read), "EUR"]
