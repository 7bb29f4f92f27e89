"""The inbox over HTTP: hostile texts, any session id, who may see what, and forms without a script."""

import re
from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from adapters.inbound.console.navigation import conversation_path
from adapters.outbound.storage.conversations.messages import PostgresMessages
from domain.refusals import TooMany
from domain.subscriptions.service import EventStreams
from tests.drivers.served import ServedWorld
from tests.features.console.talks import INSTANCES, Talks

Client = Callable[[str], httpx.Client]
MARKUP = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>{{ 7*7 }}[x](javascript:alert(3))"
SESSIONS = (
    "a/b/../c//d",
    ".",
    "..",
    "~",
    "~Lg",
    "a b?c#d%2F%00",
    "line\nbreak\ttab\rreturn",
    "\x01\x7f\u202e\u2028",
    "\N{GRINNING FACE}\u0645\u0631\u062d\u0628\u0627",
    " ",
    "x" * 10_000,
    MARKUP,
)


class Parsed(HTMLParser):
    """The elements of a page, its texts, and the fields of its forms."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    def hidden(self, name: str) -> str:
        return next(each["value"] or "" for each in self.all("input") if each.get("name") == name)


def harmless(page: Parsed) -> bool:
    scripts = [each.get("src") or "" for each in page.all("script")]
    handlers = [name for _, attributes in page.elements for name in attributes if name.startswith("on")]
    links = [each["href"] or "" for each in page.all("a") if "href" in each]
    pictures = [each.get("src") or "" for each in page.all("img")]
    return (
        all(script.startswith("/console/static/") for script in scripts)
        and not handlers
        and all(re.match(r"(/|https://example\.com/|#)", link) for link in links)
        and all(picture.startswith("/") for picture in pictures)
    )


@pytest.fixture
def talks(world: ServedWorld) -> Iterator[Talks]:
    made = Talks(world, "ann")
    yield made
    made.close()


@pytest.fixture
def ann(client: Client) -> httpx.Client:
    return client("ann")


def page(client: httpx.Client, path: str, status: int = 200) -> Parsed:
    answer = client.get(path)
    assert answer.status_code == status, answer.text
    return Parsed(answer.text)


def post(client: httpx.Client, path: str, **fields: str) -> httpx.Response:
    return client.post(path, data={"csrf": page(client, path).hidden("csrf"), **fields})


def test_any_session_id_can_be_opened_answered_and_erased(talks: Talks, ann: httpx.Client) -> None:
    for session in SESSIONS:
        talks.write(session, "hello", settle=False)
    talks.settle()
    links = [each["href"] or "" for each in page(ann, "/console/inbox").all("a")]
    opened = sorted(link for link in links if link.startswith(f"/console/inbox/{talks.id}/"))
    assert opened == sorted(conversation_path(talks.id, session) for session in SESSIONS)
    for session, path in ((session, conversation_path(talks.id, session)) for session in SESSIONS):
        shown = page(ann, path)
        assert harmless(shown)
        assert "You said: hello" in shown.text
        assert post(ann, path, do="answer", text="yes").status_code == 303, session
        assert "yes" in page(ann, path).text
        assert post(ann, path, do="erase").headers["location"] == "/console/inbox"
        page(ann, path, 404)


def test_what_no_text_can_hold_leads_to_a_conversation_too(talks: Talks, ann: httpx.Client) -> None:
    for session in ("before\0after", "before\ud83dafter"):
        talks.write(session, "hello")
        links = [each["href"] or "" for each in page(ann, "/console/inbox").all("a")]
        [path] = [link for link in links if link.startswith(f"/console/inbox/{talks.id}/")]
        assert "You said: hello" in page(ann, path).text
        assert post(ann, path, do="answer", text="yes").status_code == 303
        assert post(ann, path, do="erase").status_code == 303
        page(ann, path, 404)


def test_addresses_that_are_merely_encoded_lead_there_too(talks: Talks, ann: httpx.Client) -> None:
    talks.write("a b/c", "hello")
    assert "You said" in page(ann, f"/console/inbox/{talks.id}/a%20b%2Fc").text
    for wrong in ("~!!", "~_w", "nobody", "%ff", "~"):
        page(ann, f"/console/inbox/{talks.id}/{wrong}", 404)
    for instance in ("0", "x", "999999", "9" * 30):
        page(ann, f"/console/inbox/{instance}/a", 404)


def test_markup_of_strangers_and_resources_does_nothing(talks: Talks, ann: httpx.Client) -> None:
    talks.write("ada", MARKUP, settle=False)
    talks.fails = True
    talks.write(MARKUP, MARKUP)
    talks.fails = False
    for path in (
        "/console/inbox",
        talks.address("ada"),
        talks.address(MARKUP),
        f"/console/inbox?query={quote(MARKUP)}",
    ):
        shown = page(ann, path)
        assert harmless(shown), path
        assert "<script>alert(1)</script>" in shown.text or path.startswith("/console/inbox?")
    [question, answer] = talks.messages("ada")
    for message in (question, answer):
        assert harmless(page(ann, f"{talks.address('ada')}?message={message['id']}"))


def test_notes_stand_among_the_messages(talks: Talks, ann: httpx.Client) -> None:
    talks.write("ada", "hello")
    path = f"{INSTANCES}/{talks.id}/conversations/ada/notes"
    for text in (MARKUP, "x" * 9_000):
        talks.api("POST", path, json={"text": text})
    for part in ("", "?part=latest"):
        shown = page(ann, talks.address("ada") + part)
        assert harmless(shown)
        assert f"Note by ann, which the sender does not see{MARKUP}" in re.sub(r"\s*\n\s*", "", shown.text)
        assert "x" * 9_000 in shown.text


def test_the_channels_to_choose_from_are_those_that_one_sees(talks: Talks, client: Client) -> None:
    bob = client("bob")
    for name in ("His own", "Another"):
        talks.api(
            "POST", INSTANCES, "bob", json={"channelId": "http-webhook", "channelName": name, "config": {}}
        )
    assert "Support" not in page(bob, "/console/inbox").text
    talks.api("PUT", f"{INSTANCES}/{talks.id}/permissions", json={"userId": "bob", "level": 1})
    assert "Support" in page(bob, "/console/inbox").text


def test_only_the_owner_and_admins_see_a_conversation(
    talks: Talks, client: Client, ann: httpx.Client
) -> None:
    talks.write("ada", "secret")
    path, bob = talks.address("ada"), client("bob")
    assert "secret" in page(client("admin"), path).text
    for hidden in (
        path,
        f"{path}?part=latest",
        f"{path}?message=in-1",
        f"/console/inbox?instanceId={talks.id}",
    ):
        assert "secret" not in page(bob, hidden, 403).text
    csrf = page(bob, "/console/inbox").hidden("csrf")
    for do in ("answer", "take", "hand_back", "rerun", "erase"):
        fields = {"csrf": csrf, "do": do, "text": "x", "minutes": "60", "message": "in-1"}
        assert bob.post(path, data=fields).status_code == 403, do
    assert ann.post(path, data={"do": "erase"}).status_code == 403, "without the token of the form"
    assert len(talks.messages("ada")) == 2
    assert "secret" not in page(bob, "/console/inbox").text


def test_a_message_of_another_conversation_is_not_shown(talks: Talks, ann: httpx.Client) -> None:
    for who in ("ada", "bert"):
        talks.write(who, "hello")
    message = talks.messages("bert")[0]["id"]
    for id in (message, "in-999999", "nonsense"):
        page(ann, f"{talks.address('ada')}?message={id}", 404)


def test_faults_stand_next_to_their_fields_and_nothing_typed_is_lost(talks: Talks, ann: httpx.Client) -> None:
    talks.write("ada", "hello")
    path = talks.address("ada")
    for fields, field, words in (
        ({"text": " "}, "text", "is required"),
        ({"text": "which?", "choices": "same\nsame"}, "choices", "label of another choice"),
        ({"text": "which?", "choices": "x" * 201}, "choices", "at most 200"),
        ({"text": "x" * 100_001}, "text", "at most 100000"),
    ):
        answer = post(ann, path, do="answer", **fields)
        assert answer.status_code == 400
        shown = Parsed(answer.text)
        wrong = [each["id"] for each in shown.all("textarea") if each.get("aria-invalid")]
        assert wrong == [f"field-{field}"]
        assert words in shown.text
        assert all(value in shown.text for value in fields.values())
    assert "The bot</b> answers" in ann.get(path).text, "what could not be sent takes nothing over"
    assert len(talks.messages("ada")) == 2


def test_who_writes_where_no_address_is_known_is_told_so(talks: Talks, ann: httpx.Client) -> None:
    silent = {"channelId": "http-webhook", "channelName": "Silent", "config": {}}
    made = talks.api("POST", INSTANCES, json={**silent, "downStreamResourceId": "agent::parrot"})
    talks.id = int(made.json()["instanceId"])
    talks.write("ada", "hello")
    answer = post(ann, talks.address("ada"), do="answer", text="Hello from a person")
    assert answer.status_code == 400
    shown = Parsed(answer.text).text
    assert "named no address for answers" in shown
    assert "Hello from a person" in shown


def test_forms_that_make_no_sense_are_refused(talks: Talks, ann: httpx.Client) -> None:
    talks.write("ada", "hello")
    path = talks.address("ada")
    for fields in ({"do": "x"}, {}, {"do": "take", "minutes": "0"}, {"do": "take", "minutes": "\u0663"}):
        assert post(ann, path, **fields).status_code == 400
    assert post(ann, path, do="rerun", message="in-999999").status_code == 404


def test_a_form_that_is_posted_twice_sends_once(talks: Talks, ann: httpx.Client) -> None:
    talks.write("ada", "hello")
    path = talks.address("ada")
    before = page(ann, path)
    fields = {"csrf": before.hidden("csrf"), "do": "answer", "after": before.hidden("after"), "text": "once"}
    for _ in range(2):
        assert ann.post(path, data=fields).status_code == 303
    assert [message["text"] for message in talks.messages("ada")].count("once") == 1
    again = {**fields, "after": page(ann, path).hidden("after")}
    assert ann.post(path, data=again).status_code == 303
    assert [message["text"] for message in talks.messages("ada")].count("once") == 2


def test_a_long_message_has_a_page_of_its_own(talks: Talks, ann: httpx.Client) -> None:
    talks.write("ada", "word " * 10_000)
    shown = page(ann, talks.address("ada"))
    assert len(shown.text) < 40_000
    [link] = {each["href"] for each in shown.all("a") if "?message=in-" in (each["href"] or "")}
    assert page(ann, str(link)).text.count("word") == 10_000


def test_earlier_messages_are_plain_links_without_a_script(talks: Talks, ann: httpx.Client) -> None:
    for number in range(15):
        talks.write("ada", f"number {number}.", settle=False)
    talks.settle()
    shown = page(ann, talks.address("ada"))
    [earlier] = [each["href"] or "" for each in shown.all("a") if "?cursor=" in (each["href"] or "")]
    first = page(ann, earlier)
    assert "number 0." in first.text
    assert "number 14." not in first.text
    assert "Latest messages" in first.text


def test_the_list_is_filtered_and_goes_on(talks: Talks, ann: httpx.Client) -> None:
    for number in range(27):
        talks.write(f"person-{number}", f"number {number}.", settle=False)
    talks.settle()
    talks.take_over("person-3")
    talks.write("person-3", "anybody?")
    for query, number in (
        ("state=person", 1),
        ("state=waiting", 1),
        ("query=number+1", 11),
        ("state=resource", 25),
    ):
        links = {each["href"] for each in page(ann, f"/console/inbox?{query}").all("a")}
        assert len([link for link in links if f"/{talks.id}/" in (link or "")]) == number, query
    [more] = [
        each["href"] or ""
        for each in page(ann, "/console/inbox").all("a")
        if "cursor=" in (each["href"] or "")
    ]
    assert "number 0." in page(ann, more).text
    assert "No conversation fits" in page(ann, "/console/inbox?query=nothing+like+it").text
    page(ann, "/console/inbox?instanceId=x", 400)
    page(ann, "/console/inbox?cursor=x", 400)


def test_a_page_says_where_its_stream_goes_on_and_is_there_when_no_more_streams_are(
    ann: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        raise TooMany("800 streams of events are open", 5.0)

    ann.headers["accept"] = "text/html"
    assert page(ann, "/console/inbox").all("body")[0]["data-live-after"].isdigit()
    monkeypatch.setattr(EventStreams, "watch", refuse)
    assert "data-live-after" not in page(ann, "/console/inbox").all("body")[0]


def test_a_message_that_goes_while_the_page_is_made_is_not_on_it(
    talks: Talks, ann: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    talks.write("ada", "hello")
    of = PostgresMessages.timelines
    reads: list[Any] = []

    async def gone_at_first(self: PostgresMessages, *args: Any) -> Any:
        reads.append(args)
        return await of(self, *args) if len(reads) > 1 else []

    monkeypatch.setattr(PostgresMessages, "timelines", gone_at_first)
    assert "hello" in page(ann, conversation_path(talks.id, "ada")).text
    assert len(reads) == 2
