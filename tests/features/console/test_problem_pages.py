"""The overview, problems and the doctor over plain HTTP: rights, forms without a script, hostile texts, pages."""

import re
from collections.abc import Callable

import httpx

from adapters.inbound.console.pages.problems import NONE_CHOSEN, PER_PAGE
from tests.drivers.served import ServedWorld
from tests.features.console.requests import posted
from tests.features.console.shown.operations import STRANGE, answer, channel, fail, outage, question
from tests.support.figures import count_all

Client = Callable[[str], httpx.Client]
PROBLEMS = "/console/problems"


def items_of(page: str) -> list[str]:
    return re.findall(r'name="item" value="([^"]+)"', page)


def followed(client: httpx.Client, response: httpx.Response) -> str:
    """The page to which a form leads."""
    assert response.status_code == 303, response.text
    return client.get(response.headers["location"]).text


def test_an_empty_console_leads_to_the_first_channel(world: ServedWorld, client: Client) -> None:
    ann = client("ann")
    assert 'href="/console/channels/new"' in ann.get("/console").text
    assert "Nothing was given up" in ann.get(PROBLEMS).text
    assert 'href="/console/channels/new"' in ann.get(f"{PROBLEMS}/channels").text


def test_the_overview_tells_what_is_broken_before_the_figures(world: ServedWorld, client: Client) -> None:
    outage(world)
    page = client("admin").get("/console").text
    assert page.index("Answers are not delivered: HTTP 404") < page.index("Received")
    assert "Messages: 5 received, 3 answered, 2 given up" in page
    assert "Time to reply: half within" in page
    assert page.count('<rect class="good"') == 1
    assert page.count('<rect class="bad"') >= 1, "two where a minute ended between the failures"
    day = client("admin").get("/console?period=day").text
    assert re.search(r'period=day" aria-current="page"', day)
    assert client("admin").get("/console?period=year").status_code == 400


def test_a_channel_that_works_is_told(world: ServedWorld, client: Client) -> None:
    channel(world, "ann")
    assert "The channel works." in client("ann").get("/console").text
    assert "No messages in this time." in client("ann").get("/console").text


def test_messages_are_dropped_one_or_many_without_a_script(world: ServedWorld, client: Client) -> None:
    broken = channel(world, "ann")
    for number in range(4):
        answer(world, broken, f"answer {number}", error="HTTP 404")
    ann = client("ann")
    items = items_of(ann.get(PROBLEMS).text)
    assert len(items) == 4
    page = followed(ann, posted(ann, f"{PROBLEMS}/drop", {"item": items[0]}))
    assert "It is listed no more." in page
    page = followed(ann, posted(ann, f"{PROBLEMS}/drop", {"item": [*items[1:3], f"{broken}:out-999999"]}))
    assert "2 messages are dropped." in page
    assert "1 could not be dropped: the instance has no dead letter out-999999." in page
    assert items_of(page) == items[3:]


def test_the_list_of_channels_leads_to_the_problems_of_one(world: ServedWorld, client: Client) -> None:
    one, other = channel(world, "ann", "One"), channel(world, "ann", "Other")
    for number, instance in enumerate((one, other)):
        answer(world, instance, f"answer {number}", error="HTTP 404")
    ann = client("ann")
    links = re.findall(r'href="(/console/problems\?[^"]+)"', ann.get("/console/channels").text)
    assert sorted(items_of(ann.get(link).text)[0].split(":")[0] for link in links) == [str(one), str(other)]
    assert [len(items_of(ann.get(link).text)) for link in links] == [1, 1]


def test_a_message_is_replayed_from_its_own_page(world: ServedWorld, client: Client) -> None:
    broken = channel(world, "ann")
    question(world, broken, "help", error="the model is away")
    ann = client("ann")
    [item] = items_of(ann.get(PROBLEMS).text)
    page = ann.get(f"{PROBLEMS}/{item.replace(':', '/')}").text
    assert "the model is away" in page
    assert "Nothing was sent" in page
    assert items_of(page) == [item, item]
    page = followed(ann, posted(ann, f"{PROBLEMS}/replay", {"item": item}))
    assert "It is processed or sent again." in page
    assert items_of(page) == []


def test_choosing_nothing_is_said_at_the_list(world: ServedWorld, client: Client) -> None:
    answer(world, channel(world, "ann"), "hello", error="HTTP 404")
    response = posted(client("ann"), f"{PROBLEMS}/replay")
    assert response.status_code == 400
    assert NONE_CHOSEN in response.text
    assert len(items_of(response.text)) == 1


def test_nothing_of_other_users_is_shown_or_changed(world: ServedWorld, client: Client) -> None:
    broken = channel(world, "ann")
    answer(world, broken, "secret of ann", error="HTTP 404")
    [item] = items_of(client("ann").get(PROBLEMS).text)
    bob = client("bob")
    for path in (PROBLEMS, f"{PROBLEMS}/channels", "/console"):
        assert "secret of ann" not in bob.get(path).text
        assert "Support" not in bob.get(path).text
    for path in (item.replace(":", "/"), item.replace(":", "/") + "/payload", f"?instanceId={broken}"):
        assert bob.get(f"{PROBLEMS}/{path}".replace("/?", "?")).status_code == 403
    page = followed(bob, posted(bob, f"{PROBLEMS}/drop", {"item": item}))
    assert "1 could not be dropped: the instance belongs to another user." in page
    assert bob.get("/console/doctor").status_code == 403
    assert len(items_of(client("admin").get(PROBLEMS).text)) == 1


def test_paths_that_lead_nowhere_are_not_found(world: ServedWorld, client: Client) -> None:
    ann = client("ann")
    own = channel(world, "ann")
    for path in ("999999/in-1", f"{own}/in-1", f"{own}/nonsense", "x/in-1", "999999/in-1/payload"):
        assert ann.get(f"{PROBLEMS}/{path}").status_code == 404, path
    assert ann.get(f"{PROBLEMS}?instanceId=x").status_code == 404
    assert ann.get(f"{PROBLEMS}?direction=up").status_code == 400
    assert ann.get(f"{PROBLEMS}?cursor=nonsense").status_code == 400
    assert posted(ann, f"{PROBLEMS}/shred", {"item": "1:in-1"}).status_code == 404


def test_forms_need_their_token(world: ServedWorld, client: Client) -> None:
    for action in ("replay", "drop"):
        assert client("ann").post(f"{PROBLEMS}/{action}", data={"item": "1:in-1"}).status_code == 403


def test_what_strangers_write_is_text_on_every_page(world: ServedWorld, client: Client) -> None:
    broken = channel(world, name=f"name {STRANGE[:60]}")
    question(world, broken, STRANGE, error=STRANGE)
    answer(world, broken, STRANGE, error=STRANGE)
    fail(world, broken, STRANGE)
    count_all(world)
    admin = client("admin")
    items = [item.replace(":", "/") for item in items_of(admin.get(PROBLEMS).text)]
    assert len(items) == 2
    paths = [f"{PROBLEMS}/{item}" for item in items] + [f"{PROBLEMS}/{item}/payload" for item in items]
    for path in ("/console", "/console/overview/state", PROBLEMS, f"{PROBLEMS}/channels", *paths):
        page = admin.get(path)
        assert page.status_code == 200
        assert "<script>alert" not in page.text, path


def test_long_lists_come_in_pages(world: ServedWorld, client: Client) -> None:
    broken = channel(world, "ann")
    for number in range(PER_PAGE + 2):
        question(world, broken, f"question {number}", error="the model is away")
    ann = client("ann")
    first = ann.get(f"{PROBLEMS}?direction=in").text
    [more] = re.findall(r'class="more"><a class="button" href="([^"]+)"', first)
    second = ann.get(more.replace("&amp;", "&")).text
    assert (len(items_of(first)), len(items_of(second))) == (PER_PAGE, 2)
    assert not set(items_of(first)) & set(items_of(second))
    assert items_of(ann.get(f"{PROBLEMS}?direction=out").text) == []


def test_the_health_of_channels_tells_limits_and_queues(world: ServedWorld, client: Client) -> None:
    broken, _ = outage(world)
    ann = client("admin")
    page = ann.get(f"{PROBLEMS}/channels").text
    assert page.index("Needs attention") < page.index(">Works<")
    assert f'href="/console/problems?instanceId={broken}">1 given up' in page
    failing = ann.get(f"{PROBLEMS}/channels?failing=true").text
    assert ">Works<" not in failing
    database = world.container.database()
    opened = "INSERT INTO send_breaker VALUES (%s, now(), now() + interval '1 hour', 1, 'no answer')"
    world.run(database.execute(opened, (broken,)))
    page = ann.get(f"{PROBLEMS}/channels/list").text
    assert "Sending paused" in page
    assert "Replies wait because the platform does not answer: no answer" in page


def test_the_doctor_says_what_is_off_and_no_secret(world: ServedWorld, client: Client) -> None:
    page = client("admin").get("/console/doctor").text
    assert "platforms on the internet cannot call it" in page
    assert "Nothing has to be fixed." in page
    settings = world.settings
    for secret in (settings.internal_service_key, settings.config_encryption_key):
        assert secret not in page
