"""The steps of retention.feature."""

from datetime import UTC, datetime, timedelta

from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.bot_messenger.tests import samples
from tests.features.conversations.scene import Scene

EDGE = samples.SETTING
scenarios("retention.feature")


@given("ada has written to it")
def written(scene: Scene) -> None:
    scene.write("ada", "hello")
    scene.settle()


@given("nobody works on what ada has written")
def untouched(scene: Scene) -> None:
    written(scene)
    database = scene.world.container.database()
    waits = "UPDATE inbox SET status = 0, finished_at = NULL, received_at = received_at - interval '400 days'"
    scene.world.run(database.execute(waits))


@when(parsers.parse("old rows are cleaned after {days:d} days"))
def cleaned(scene: Scene, days: int) -> None:
    storage, later = scene.world.container.storage(), datetime.now(UTC) + timedelta(days=days)
    scene.world.run(storage.retention.clean(later))
    scene.world.run(storage.conversation_expiry.clean(later))


@then(parsers.re(r"ann sees (?P<number>\d) repl(y|ies) that (is|are) (?P<status>sent|dead)"))
def replies(scene: Scene, number: str, status: str) -> None:
    found = scene.read(f"{scene.path}/deliveries", status=status)["deliveries"]
    assert len(found) == int(number)


@then("ada's conversation still has her words and the answer")
def still_there(scene: Scene) -> None:
    assert {message["text"] for message in scene.messages("ada")} == {"hello", "You said: hello"}


@then("ada's conversation is forgotten")
def forgotten(scene: Scene) -> None:
    assert scene.ask("GET", f"{scene.of('ada')}/messages").status_code == 404
    assert scene.value("SELECT count(*) FROM inbox WHERE position('hello' in event::text) > 0") == 0


@then("ada's message still waits")
def waits(scene: Scene) -> None:
    assert scene.value("SELECT count(*) FROM inbox WHERE status = 0") == 1
