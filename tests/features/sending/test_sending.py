"""The steps of sending.feature."""

from typing import Any

from pytest_bdd import parsers, scenarios, then, when

from tests.features.sending.conftest import DIRECT, ROOM, Sending
from tests.support.platforms.slack import Slack
from tests.support.waiting import until

scenarios("sending.feature")


@when(parsers.re(r'ann sends "(?P<text>[^"]+)" to (?P<whom>.+)'))
def sends(sending: Sending, slack: Slack, text: str, whom: str) -> None:
    session = sending.last.body["sessionId"] if sending.replies else DIRECT
    places = {
        "that conversation": {"sessionId": session},
        "the channel": {"to": ROOM},
        "ada": {"to": "U0ADA"},
        "nobody in particular": {},
    }
    sending.send(text=text, **places[whom])


def _texts(slack: Slack, place: str) -> list[str]:
    return [message["text"] for message in slack.messages if message["channel"] == place]


@then(parsers.re(r'ada reads "(?P<text>[^"]+)" in the direct chat'))
def reads(sending: Sending, slack: Slack, text: str) -> None:
    assert sending.driver.wait_until(lambda: _texts(slack, DIRECT) == [text]), slack.messages


@then(parsers.re(r'ada reads "(?P<first>[^"]+)" and then "(?P<second>[^"]+)" in the direct chat'))
def reads_both(sending: Sending, slack: Slack, first: str, second: str) -> None:
    assert sending.driver.wait_until(lambda: _texts(slack, DIRECT) == [first, second]), slack.messages


@then(parsers.re(r'"(?P<text>[^"]+)" stands in the channel'))
def stands(sending: Sending, slack: Slack, text: str) -> None:
    assert sending.driver.wait_until(lambda: _texts(slack, ROOM) == [text]), slack.messages


@then("ada's message and ann's are of the same conversation")
def same_conversation(sending: Sending) -> None:
    database = sending.world.container.database()
    rows = sending.world.run(database.fetch("SELECT session_key FROM queue WHERE kind = 0"))
    assert rows == [(sending.last.body["sessionId"],)]


def _inbox_id(sending: Sending) -> int:
    query = "SELECT id FROM inbox ORDER BY id DESC LIMIT 1"
    number: int = sending.world.run(sending.world.container.database().fetch_value(query))
    return number


@when("ann looks at ada's message", target_fixture="looked_at")
def looks_at_question(sending: Sending) -> dict[str, Any]:
    return sending.status(f"in-{_inbox_id(sending)}")


@when("ann looks at the answer to it", target_fixture="looked_at")
def looks_at_answer(sending: Sending) -> dict[str, Any]:
    until(lambda: sending.count("outbox", "status = 0") == 0, "the answer is on record as sent")
    return sending.status(f"out-{_inbox_id(sending)}")


@when("ann looks at it", target_fixture="looked_at")
def looks_at_it(sending: Sending) -> dict[str, Any]:
    return sending.status()


@then(parsers.re(r'it is "(?P<status>[a-z]+)", by the (?P<author>[a-z]+), and says "(?P<text>[^"]+)"'))
def is_and_says(looked_at: dict[str, Any], status: str, author: str, text: str) -> None:
    told = (looked_at["status"], looked_at["author"], looked_at["text"], looked_at["sessionId"])
    assert told == (status, author, text, DIRECT)
    assert looked_at["direction"] == ("in" if author == "sender" else "out")


@then(parsers.parse('it is by a person and says "{text}"'))
def is_by_person(looked_at: dict[str, Any], text: str) -> None:
    assert (looked_at["author"], looked_at["direction"], looked_at["text"]) == ("person", "out", text)


@when("ann sends a file to the channel")
def sends_file(sending: Sending, slack: Slack) -> None:
    sending.send(to=ROOM, files=[{"name": "a.txt", "mimeType": "text/plain", "dataBase64": "aGVsbG8="}])


@then("the file is in the channel")
def file_there(sending: Sending, slack: Slack) -> None:
    assert sending.driver.wait_until(lambda: len(slack.files) == 1), slack.files
    assert list(slack.uploads.values()) == [b"hello"]


@then("the message tells where the file can be fetched")
def tells_where(sending: Sending) -> None:
    [file] = sending.status()["files"]
    assert (file["name"], file["mimeType"], file["size"]) == ("a.txt", "text/plain", 5)
    token = file["url"].split("/files/")[1].split("/")[0]
    shared = sending.world.container.use_cases().shared

    async def fetched() -> bytes:
        return b"".join([piece async for piece in (await shared.open(token)).content])

    assert sending.world.run(fetched()) == b"hello"
