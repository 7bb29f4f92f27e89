"""The steps of sending.feature."""

from __future__ import annotations

from pytest_bdd import parsers, scenarios, then, when

from tests.features.sending.conftest import DIRECT, ROOM, Sending
from tests.support.platforms.slack import Slack

THROUGH = "way"
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
