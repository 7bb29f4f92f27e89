"""The steps of web_chat.feature."""

import base64
from uuid import uuid4

import jwt
from pytest_bdd import given, parsers, scenarios, then, when

from adapters.outbound.channels.web_chat.tests.samples import text_of
from domain.channels.messages import Identity
from domain.routing.model import ResultArtifact, RunResult
from tests.drivers.streaming import PieceByPiece
from tests.drivers.ways import INSTANCES
from tests.drivers.web_chat import Page
from tests.features.web_chat.conftest import Scene
from tests.support.waiting import until

scenarios("web_chat.feature")


PIECE = b"The house has two floors."


@given("a website shows the chat of ann's instance")
def _(scene: Scene) -> None:
    tag = f'/web-chat.js" data-instance="{scene.instance["publicId"]}" async></script>'
    assert scene.instance["embedTag"].endswith(tag)


@given(parsers.parse('a visitor has asked "{text}" and got an answer'))
def _(scene: Scene, text: str) -> None:
    scene.page.open()
    scene.ask(text)
    scene.look().wait_for(f"visitor: {text}", f"agent: You said: {text}")


@when(parsers.parse('a visitor opens the chat and writes "{text}"'))
def _(scene: Scene, text: str) -> None:
    scene.page.open()
    scene.look().begun()
    scene.ask(text)


@when("the visitor loads the page again")
def _(scene: Scene) -> None:
    before = scene.page.visitor
    scene.load_again()
    assert scene.page.visitor == before


@then(parsers.parse('the panel shows the question and below it "{answer}"'))
def _(scene: Scene, answer: str) -> None:
    scene.stream.wait_for("visitor: How late is it?", f"agent: {answer}")
    assert [message["draft"] for message in scene.stream.shown()] == [False, False]


@given("a visitor has the chat open in two tabs")
def _(scene: Scene) -> None:
    scene.page.open()
    for _ in range(2):
        scene.look().begun()


@when(parsers.parse("{count:d} visitors open the chat, and each asks a question of their own"))
def _(scene: Scene, count: int) -> None:
    pages = [Page(scene.rest, scene.instance["publicId"], address=f"192.0.2.{at}") for at in range(count)]
    for page in pages:
        page.open()
        scene.look(page)
    for at, page in enumerate(pages):
        scene.ask(f"Question {at}", page)


@then("each of them reads the own question and its answer, and nothing else")
def _(scene: Scene) -> None:
    for at, stream in enumerate(scene.streams):
        stream.wait_for(f"visitor: Question {at}", f"agent: You said: Question {at}")


@when(parsers.parse('the visitor writes "{text}" in one of them'))
def _(scene: Scene, text: str) -> None:
    scene.ask(text)


@then("both tabs show the question and the answer")
def _(scene: Scene) -> None:
    for stream in scene.streams:
        stream.wait_for("visitor: How late is it?", "agent: You said: How late is it?")


@when("the visitor's network is off while the answer to another question comes")
def _(scene: Scene) -> None:
    scene.stream.leave()
    scene.ask("And now?")
    watching = scene.look()
    watching.wait_for(*ALL_FOUR)
    watching.leave()
    scene.streams.pop()


ALL_FOUR = (
    "visitor: How late is it?",
    "agent: You said: How late is it?",
    "visitor: And now?",
    "agent: You said: And now?",
)


@then("after the network is back the panel shows both answers, each once")
def _(scene: Scene) -> None:
    again = scene.look(after=scene.stream.cursor)
    again.wait_for(*ALL_FOUR[2:])
    assert [event for event, _ in again.events].count("message") == 2


@when(parsers.parse('a visitor\'s message "{text}" arrives twice'))
def _(scene: Scene, text: str) -> None:
    scene.page.open()
    id = str(uuid4())
    for _ in range(2):
        assert scene.page.write(text, id).json() == {"id": id}


@then("it is answered once, and shown once")
def _(scene: Scene) -> None:
    scene.look().wait_for(*ALL_FOUR[:2])
    scene.ask("And now?")
    scene.stream.wait_for(*ALL_FOUR)


@when("a visitor opens the chat and writes nothing")
def _(scene: Scene) -> None:
    scene.page.open()
    scene.look().begun()


@then("nothing is stored of the visitor")
def _(scene: Scene) -> None:
    database = scene.world.container.database()
    for table in ("web_chat", "web_chat_message", "inbox", "queue"):
        assert scene.world.run(database.fetch_value(f"SELECT count(*) FROM {table}")) == 0


@given("a visitor has asked something that takes a while to answer")
def _(scene: Scene) -> None:
    scene.pieces = PieceByPiece(scene.world)
    scene.page.open()
    scene.look().begun()
    scene.ask("How long?")


@given(parsers.parse('the resource has said "{text}"'))
@when(parsers.parse('the resource has said "{text}"'))
def _(scene: Scene, text: str) -> None:
    assert scene.pieces
    scene.pieces.say(text)
    scene.stream.wait_for("visitor: How long?", f"agent: {text}")


@when(parsers.parse('the resource has said "{text}" and is done'))
def _(scene: Scene, text: str) -> None:
    assert scene.pieces
    scene.pieces.end(RunResult(text))


@then(parsers.parse('the panel shows "{text}" as unfinished'))
def _(scene: Scene, text: str) -> None:
    scene.stream.wait_for("visitor: How long?", f"agent: {text}")
    assert scene.stream.shown()[-1]["draft"]


@then(parsers.parse('the panel shows "{text}" in its place'))
def _(scene: Scene, text: str) -> None:
    scene.stream.wait_for("visitor: How long?", f"agent: {text}")
    until(lambda: not scene.stream.shown()[-1]["draft"], "the answer is finished")


@then("the panel shows that an answer is being written")
def _(scene: Scene) -> None:
    until(lambda: "typing" in dict(scene.stream.events), "somebody is writing")
    assert 0 < dict(scene.stream.events)["typing"]["seconds"] <= 5
    assert scene.pieces
    scene.pieces.end(RunResult("Two years."))


@given("a visitor has asked for something that needs an approval")
def _(scene: Scene) -> None:
    scene.page.open()
    scene.look()
    scene.ask("Order it")
    until(lambda: len(scene.stream.shown()) > 1, "it is asked")
    assert [choice["label"] for choice in scene.stream.shown()[-1]["choices"]][:1] == ["Approve"]


@given('a visitor has been asked "Which one?" with the choices "Small" and "Large"')
def _(scene: Scene) -> None:
    scene.page.open()
    scene.look()
    scene.ask("Which one?")
    until(lambda: any(message["choices"] for message in scene.stream.shown()), "it is asked")


@when(parsers.re(r'the visitor presses "(?P<label>\w+)" twice, (?P<when>at once|after a while)'))
def _(scene: Scene, label: str, when: str) -> None:
    (choice,) = [each for each in scene.stream.shown()[-1]["choices"] if each["label"] == label]
    for _ in range(2):
        assert scene.page.write(label, choice=choice["value"]).status_code == 202
        if when == "after a while":
            scene.world.settle()
    scene.world.settle()


@when('the visitor writes "Delete everything" as the choice "never-offered"')
def _(scene: Scene) -> None:
    assert scene.page.write("Delete everything", choice="never-offered").status_code == 202
    assert scene.page.write("", choice="never-offered").status_code == 202
    scene.world.settle()


@then('the resource gets "Large" as a choice, once')
def _(scene: Scene) -> None:
    got = [(request.text, request.choice) for request in scene.resource.requests]
    assert got == [("Which one?", False), ("Large", True)]


@then('the resource gets "Delete everything" as a message without a choice')
def _(scene: Scene) -> None:
    got = [(request.text, request.choice, request.context) for request in scene.resource.requests[1:]]
    assert got == [("Delete everything", False, {}), ("never-offered", False, {})]
    assert {"visitor: Delete everything", "visitor: never-offered"} <= set(scene.stream.texts)


@when(parsers.parse('the visitor presses "{label}"'))
def _(scene: Scene, label: str) -> None:
    (choice,) = [each for each in scene.stream.shown()[-1]["choices"] if each["label"] == label]
    answer = scene.page.write(label, choice=choice["value"])
    assert answer.status_code == 202, answer.text


@then("the tool is used, and the question has no buttons any more")
def _(scene: Scene) -> None:
    until(lambda: scene.stream.texts[-1] == "agent: You said: Order it", "it is done")
    until(lambda: not any(each["choices"] for each in scene.stream.shown()), "there are no buttons")
    assert scene.resource.requests[-1].approval is not None
    assert scene.stream.texts[-2] == "visitor: Approve"


@when(parsers.parse('a visitor writes "{text}" with the file "{name}"'))
def _(scene: Scene, text: str, name: str) -> None:
    scene.page.open()
    file = {"name": name, "mimeType": "text/plain", "dataBase64": base64.b64encode(PIECE).decode()}
    assert scene.page.write(text, files=[file]).status_code == 202


@then(parsers.parse('the resource gets the file "{name}" with its content'))
def _(scene: Scene, name: str) -> None:
    (request,) = scene.resource.wait_for(1)
    (file,) = request.files
    assert (file.name, file.size, fetched(scene, file.url)) == (name, len(PIECE), PIECE)


@then("the panel shows the question with the file")
def _(scene: Scene) -> None:
    scene.look().wait_for("visitor: Read this", "agent: You said: Read this")
    (file,) = scene.stream.shown()[0]["files"]
    assert (file["name"], file["mimeType"], file["size"]) == ("plan.txt", "text/plain", len(PIECE))
    assert fetched(scene, file["url"]) == PIECE


def fetched(scene: Scene, url: str) -> bytes:
    return scene.rest.request("GET", url).content


@given(parsers.parse('the resource answers with the file "{name}"'))
def _(scene: Scene, name: str) -> None:
    scene.artifacts = (ResultArtifact(name, "text/plain", data=PIECE),)


@then(parsers.parse('the panel shows a link to "{name}", which can be fetched'))
def _(scene: Scene, name: str) -> None:
    scene.stream.wait_for("visitor: Make me an offer", "agent: You said: Make me an offer")
    (file,) = scene.stream.shown()[1]["files"]
    assert (file["name"], fetched(scene, file["url"])) == (name, PIECE)


@given(parsers.parse('the site signs its visitor 42 as Ann with the address "{email}"'))
def _(scene: Scene, email: str) -> None:
    scene.page.open(scene.identity(name="Ann", email=email))


@given(parsers.parse('this visitor has written "{text}"'))
@when(parsers.parse('this visitor writes "{text}"'))
def _(scene: Scene, text: str) -> None:
    scene.ask(text)
    scene.look().wait_for(f"visitor: {text}", f"agent: You said: {text}")


@then("the resource is told that Ann wrote")
def _(scene: Scene) -> None:
    sender = scene.resource.requests[0].sender
    assert (sender.external_id, sender.display_name) == ("u-42", "Ann")


@when("the same person opens the chat on another computer")
def _(scene: Scene) -> None:
    scene.page = scene.visitor()
    scene.page.open(scene.identity())
    scene.look()


@when("somebody opens the chat with an identity that the site has not signed")
def _(scene: Scene) -> None:
    forged = jwt.encode({"sub": "42", "exp": 2_000_000_000}, "x" * 40, algorithm="HS256")
    scene.page.open(forged)


@then("the session is refused, with a sentence that says so")
def _(scene: Scene) -> None:
    assert scene.page.last is not None
    assert scene.page.last.status_code in (401, 403)
    assert len(scene.page.last.json()["error"].split()) > 4
    assert not scene.page.visitor


@given(parsers.parse('bob has verified "{email}", and ann\'s instance identifies its users'))
def _(scene: Scene, email: str) -> None:
    scene.instance = scene.create("agent::parrot", "members", identifyUsers=True)
    scene.page = scene.visitor()
    storage = scene.world.container.storage()
    scene.world.run(storage.identities.give("bob", [Identity("email", email)]))


@when(parsers.parse('the site signs a visitor with the address "{email}", who writes'))
def _(scene: Scene, email: str) -> None:
    scene.page.open(scene.identity(email=email))
    scene.ask("I am bob")


@then("the resource is told of no user, and that the owner of the instance proves who writes")
def _(scene: Scene) -> None:
    sender = scene.resource.wait_for(1)[0].sender
    assert (sender.user_id, sender.verified_by) == (None, "owner")


@given(
    parsers.parse('the instance is trusted and serves only verified users, and bob has verified "{email}"')
)
def _(scene: Scene, email: str) -> None:
    scene.instance = scene.create("agent::parrot", "members", accessMode="allowlist")
    assert scene.rest.trust("admin", scene.instance["id"], trusted=True).outcome == "done"
    scene.page = scene.visitor()
    storage = scene.world.container.storage()
    scene.world.run(storage.identities.give("bob", [Identity("email", email)]))


@when(parsers.parse('the site\'s visitor with the address "{email}" and an anonymous visitor write'))
def _(scene: Scene, email: str) -> None:
    scene.page.open(scene.identity(email=email))
    scene.ask("I am known")
    scene.look()
    stranger = scene.visitor()
    stranger.open()
    scene.ask("I am not", stranger)
    scene.look(stranger)


@then("only the first of them is answered by the resource")
def _(scene: Scene) -> None:
    first, second = scene.streams
    first.wait_for("visitor: I am known", "agent: You said: I am known")
    until(lambda: len(second.texts) == 2, "the stranger is told")
    assert second.texts[1].startswith("system: ")
    assert [request.text for request in scene.resource.requests] == ["I am known"]
    assert scene.resource.requests[0].sender.user_id == "bob"


@when("a page of another origin opens the chat")
def _(scene: Scene) -> None:
    scene.page.origin = "https://evil.example"
    scene.page.open()
    assert scene.page.last is not None
    assert "access-control-allow-origin" not in scene.page.last.headers
    preflight = scene.page.call("OPTIONS", "/session")
    assert (preflight.status_code, "access-control-allow-origin" in preflight.headers) == (403, False)


@when("a page of the service itself opens the chat")
def _(scene: Scene) -> None:
    scene.page.origin = scene.world.settings.agent_url
    scene.page.open()


@then("the session is opened")
def _(scene: Scene) -> None:
    assert scene.page.visitor


def _other(letter: str) -> str:
    return "A" if letter != "A" else "B"


@when("somebody reads with a token for that visitor that was made up")
def _(scene: Scene) -> None:
    token = scene.page.visitor
    for forged in (token[:-1] + _other(token[-1]), _other(token[0]) + token[1:], token[40:], "none"):
        thief = scene.visitor()
        thief.visitor = forged
        scene.look(thief)


@when("somebody uses the visitor's token with another instance")
def _(scene: Scene) -> None:
    thief = Page(scene.rest, scene.create("agent::parrot", "other")["publicId"])
    thief.visitor = scene.page.visitor
    scene.look(thief)


@then("reading is refused, and nothing of the conversation is shown")
def _(scene: Scene) -> None:
    for stream in scene.streams[1:]:
        until(lambda stream=stream: stream.ended, "the stream ends")  # type: ignore[misc]
        assert (stream.status, stream.texts) == (401, [])
        assert b"How late" not in stream.body


@when(parsers.parse('ann writes "{text}" to the visitor'))
def _(scene: Scene, text: str) -> None:
    sent = scene.rest.send("ann", scene.instance["id"], {"sessionId": session_of(scene), "text": text})
    assert sent.outcome == "accepted", sent


def session_of(scene: Scene) -> str:
    path = f"{INSTANCES}/{scene.instance['id']}/conversations"
    session: str = scene.rest.request("GET", path, "ann").json()["conversations"][0]["sessionId"]
    return session


@then(parsers.parse('the panel shows "{text}" from a person'))
def _(scene: Scene, text: str) -> None:
    scene.stream.wait_for(*ALL_FOUR[:2], f"person: {text}")


@when("ann erases the conversation")
def _(scene: Scene) -> None:
    path = f"{INSTANCES}/{scene.instance['id']}/conversations/{session_of(scene)}"
    assert scene.rest.request("DELETE", path, "ann").status_code == 204


@when("the conversation is older than conversations are kept")
def _(scene: Scene) -> None:
    storage = scene.world.container.storage()
    old = "UPDATE {} SET touched_at = now() - interval '1000 days'"
    for table in ("queue", "web_chat"):
        scene.world.run(storage.database.execute(old.format(table)))
    scene.world.run(storage.conversation_expiry.clean())
    storage.event_bus.on_disconnect()


@then("the panel is empty, and stays so when the page is loaded again")
def _(scene: Scene) -> None:
    scene.stream.wait_for()
    assert "cleared" in dict(scene.stream.events)
    scene.load_again()
    assert scene.stream.begun().texts == []


@when("ann deletes the instance")
def _(scene: Scene) -> None:
    scene.rest.delete("ann", scene.instance["id"])


@then("the visitor's stream ends, and the chat cannot be opened any more")
def _(scene: Scene) -> None:
    until(lambda: scene.stream.ended, "the stream ends")
    scene.page.open()
    assert scene.page.last is not None
    assert scene.page.last.status_code == 404
    assert text_of(scene.page.last.json()["error"])
