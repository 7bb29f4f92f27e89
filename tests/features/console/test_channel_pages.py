"""What the pages of channels answer over HTTP: permissions, secrets, faults, and what strangers wrote."""

import re
from collections.abc import Callable, Iterator
from html import unescape

import httpx
import pytest

from adapters.outbound.storage.unanswered import add_unanswered
from domain.access.model import Caller, Role
from domain.channels.messages import Event, Sender
from domain.instances.checks import TRIES
from domain.instances.model import NewInstance
from tests.drivers.platform import PlatformDriver
from tests.drivers.served import ServedWorld
from tests.support.platforms.mattermost import CHANNEL, TOKEN, Mattermost

ANN = Caller("ann")
CHANNELS = "/console/channels"
CSRF = re.compile(r'name="csrf" value="(\w+)"')
EVIL = '<img src=x onerror="alert(1)">'
HTMX = {"HX-Request": "true"}


class Person:
    """Somebody with a session: pages, and forms as a browser sends them."""

    def __init__(self, client: httpx.Client) -> None:
        self.client = client

    def get(self, path: str) -> httpx.Response:
        return self.client.get(path)

    def post(self, path: str, page: str = CHANNELS + "/new/cron", **more: object) -> httpx.Response:
        csrf = CSRF.search(self.get(page).text)
        assert csrf
        fields = {"csrf": csrf[1], **{name.replace("_", "-", 1): value for name, value in more.items()}}
        headers = fields.pop("headers", {})
        return self.client.post(path, data=fields, headers=headers)


@pytest.fixture
def ann(client: Callable[[str], httpx.Client]) -> Person:
    return Person(client("ann"))


@pytest.fixture
def bob(client: Callable[[str], httpx.Client]) -> Person:
    return Person(client("bob"))


@pytest.fixture(scope="module")
def driver() -> Iterator[PlatformDriver]:
    made = PlatformDriver()
    yield made
    made.close()


@pytest.fixture
def chat(driver: PlatformDriver) -> Mattermost:
    """A chat server on loopback."""
    server = Mattermost()
    driver.show(server)
    return server


def hook(world: ServedWorld, name: str = "Support", secret: str = "stored-s3cret") -> int:
    new = NewInstance("http-webhook", name, {"webhookSecret": secret}, "agent::echo")
    return world.run(world.container.use_cases().instances.create(ANN, new)).instance_id


def config_of(world: ServedWorld, number: int) -> dict[str, object]:
    view = world.run(world.container.use_cases().instances.get(ANN, number))
    return dict(view.instance.config)


def test_a_resource_that_nothing_takes_is_named(world: ServedWorld, ann: Person) -> None:
    number = hook(world)
    told = "Nothing stands behind"
    assert told not in ann.get(f"{CHANNELS}/{number}").text
    new = NewInstance("http-webhook", "Orders", {}, "workflow::nobody")
    unanswered = world.run(world.container.use_cases().instances.create(ANN, new)).instance_id
    assert f"{told} <code>workflow::nobody</code>" in ann.get(f"{CHANNELS}/{unanswered}").text


def test_an_admin_trusts_the_senders_of_a_channel(
    world: ServedWorld, ann: Person, client: Callable[[str], httpx.Client]
) -> None:
    config = {"identifyUsers": True, "identitySecret": "x" * 32}
    instances, admin = world.container.use_cases().instances, Person(client("admin"))
    new = NewInstance("web-chat", "Shop", config, "agent::echo")
    number = world.run(instances.create(ANN, new)).instance_id
    path, button = f"{CHANNELS}/{number}", "Trust the senders"

    page = ann.get(path).text
    assert (button in page, "recognised only as the owner" in page) == (False, True)
    assert ann.post(f"{path}/trusted", trusted="yes").status_code == 403
    assert button in admin.get(path).text
    assert admin.post(f"{path}/trusted", trusted="yes").status_code == 303
    assert "An admin has marked the instance as trusted" in ann.get(path).text
    assert world.run(instances.get(ANN, number)).instance.trusted
    assert "Trust no longer" in admin.get(path).text
    assert admin.post(f"{path}/trusted", trusted="no").status_code == 303
    assert not world.run(instances.get(ANN, number)).instance.trusted


def test_a_change_that_ends_the_trust_says_so(world: ServedWorld, ann: Person) -> None:
    instances = world.container.use_cases().instances
    number = hook(world)
    world.run(instances.set_trusted(Caller("root", Role.ADMIN), number, trusted=True))
    path, ended = f"{CHANNELS}/{number}", "The senders are no longer trusted"

    def saved(**fields: object) -> str:
        fields = {"channelName": "Support", "downStreamResourceId": "agent::echo", **fields}
        assert ann.post(f"{path}/edit", **fields).status_code == 303
        return ann.get(path).text

    assert ended not in saved(config_messageField="data.text")
    assert world.run(instances.get(ANN, number)).instance.trusted
    assert ended in saved(config_webhookSecret="another-s3cret")
    assert not world.run(instances.get(ANN, number)).instance.trusted
    assert ended not in saved(config_webhookSecret="a-third-s3cret")


def test_secrets_never_come_back(world: ServedWorld, ann: Person) -> None:
    number = hook(world)
    parts = ("", "/edit", "/health", "/first-message")
    for path in (CHANNELS, *(f"{CHANNELS}/{number}{part}" for part in parts)):
        page = ann.get(path)
        assert page.status_code == 200, path
        assert "stored-s3cret" not in page.text, path
    wrong = {"config_webhookSecret": "typed-s3cret", "config_responseWebhookUrl": "nowhere"}
    for headers in ({}, HTMX):
        for action in ("", "/check", "/check-credentials"):
            answer = ann.post(f"{CHANNELS}/{number}/edit{action}", channelName="S", headers=headers, **wrong)
            assert "s3cret" not in answer.text, action


def test_a_secret_left_empty_stays_and_can_be_taken_away(world: ServedWorld, ann: Person) -> None:
    number = hook(world)
    path = f"{CHANNELS}/{number}/edit"
    saved = ann.post(
        path,
        channelName="Help desk",
        downStreamResourceId="agent::echo",
        config_webhookSecret="",
        config_messageField="data.text",
    )
    assert (saved.status_code, saved.headers["location"]) == (303, f"{CHANNELS}/{number}")
    assert config_of(world, number) == {"webhookSecret": "stored-s3cret", "messageField": "data.text"}
    ann.post(path, channelName="Help desk", downStreamResourceId="agent::echo", remove_webhookSecret="true")
    assert config_of(world, number) == {}


def test_what_is_wrong_stands_at_the_field_and_what_was_typed_stays(world: ServedWorld, ann: Person) -> None:
    answer = ann.post(
        f"{CHANNELS}/new/email",
        channelName="Mail",
        config_smtpPort="many",
        config_smtpHost="mail.example.com",
    )
    assert answer.status_code == 400
    page = unescape(answer.text)
    assert re.search(r'id="fault-config-smtpPort"[^>]*>Must be a number\.<', page)
    assert re.search(r'id="fault-config-imapHost"[^>]*>Is required\.<', page)
    assert '<a href="#field-config-smtpPort">SMTP port</a>' in page
    assert 'value="many"' in page
    assert 'value="mail.example.com"' in page
    assert world.run(world.container.use_cases().instances.list(ANN)) == []


def test_a_name_that_is_taken_is_said_at_the_name(world: ServedWorld, ann: Person) -> None:
    hook(world, "Support")
    answer = ann.post(f"{CHANNELS}/new/http-webhook", channelName="Support")
    assert answer.status_code == 400
    assert re.search(r'id="fault-channelName"[^>]*>[^<]*exists already', unescape(answer.text))


def test_a_field_is_checked_while_it_is_written(world: ServedWorld, ann: Person) -> None:
    def fault(name: str, **fields: str) -> str:
        headers = {**HTMX, "HX-Trigger-Name": name}
        answer = ann.post(f"{CHANNELS}/new/cron/check", channelName="x", headers=headers, **fields)
        assert answer.status_code == 200
        return unescape(answer.text)

    assert "5 fields" in fault("config-cronSchedule", config_cronSchedule="* *").lower()
    assert fault("config-cronSchedule", config_cronSchedule="0 9 * * 1", config_message="m") == ""
    assert fault("downStreamResourceId", downStreamResourceId="agent:x").startswith("Has one colon")
    assert fault("config-message") == "Is required."


def test_the_words_of_the_platform_come_with_what_to_do(
    world: ServedWorld, ann: Person, chat: Mattermost
) -> None:
    fields = {"config_SERVER_URL": chat.url, "config_channelId": CHANNEL, "channelName": "Chat"}
    path = f"{CHANNELS}/new/community-chat/check-credentials"
    refused = ann.post(path, headers=HTMX, config_token="wrong", **fields)
    assert "Invalid or expired session" in refused.text
    assert "check again" in refused.text
    assert "accepts the credentials" in ann.post(path, headers=HTMX, config_token=TOKEN, **fields).text
    without_script = ann.post(path, config_token=TOKEN, **fields)
    assert "accepts the credentials" in without_script.text
    assert TOKEN not in without_script.text


def test_a_refusal_after_saving_is_said_on_the_page(
    world: ServedWorld, ann: Person, chat: Mattermost
) -> None:
    saved = ann.post(
        f"{CHANNELS}/new/community-chat",
        channelName="Chat",
        config_SERVER_URL=chat.url,
        config_channelId=CHANNEL,
        config_token="wrong",
    )
    assert "Invalid or expired session" in ann.get(saved.headers["location"]).text


@pytest.mark.parametrize("part", ["", "/edit", "/health", "/first-message"])
def test_others_cannot_look(world: ServedWorld, bob: Person, part: str) -> None:
    number = hook(world)
    page = bob.get(f"{CHANNELS}/{number}{part}")
    assert page.status_code == 403
    assert "Support" not in page.text
    assert bob.get(f"{CHANNELS}/999999{part}").status_code == 404


@pytest.mark.parametrize("action", ["/edit", "/edit/check", "/check-credentials", "/pairing", "/delete"])
def test_others_cannot_act(world: ServedWorld, ann: Person, bob: Person, action: str) -> None:
    number = hook(world)
    assert bob.post(f"{CHANNELS}/{number}{action}", channelName="Mine now").status_code == 403
    assert ann.get(f"{CHANNELS}/{number}").status_code == 200
    assert config_of(world, number) == {"webhookSecret": "stored-s3cret"}


def test_a_form_of_another_site_changes_nothing(world: ServedWorld, ann: Person) -> None:
    number = hook(world)
    assert ann.client.post(f"{CHANNELS}/{number}/delete").status_code == 403
    assert ann.get(f"{CHANNELS}/{number}").status_code == 200


def test_a_channel_is_disconnected(world: ServedWorld, ann: Person) -> None:
    number = hook(world)
    assert ann.post(f"{CHANNELS}/{number}/delete").headers["location"] == CHANNELS
    assert ann.get(f"{CHANNELS}/{number}").status_code == 404
    assert "No channel is connected yet" in ann.get(CHANNELS).text


def test_unknown_channels_have_no_page(ann: Person) -> None:
    assert ann.get(f"{CHANNELS}/new/pigeon-post").status_code == 404
    assert ann.get(f"{CHANNELS}/none").status_code == 404


def test_markup_in_names_is_text(world: ServedWorld, ann: Person) -> None:
    number = hook(world, EVIL)
    for path in (CHANNELS, f"{CHANNELS}/{number}", f"{CHANNELS}/{number}/edit"):
        page = ann.get(path).text
        assert EVIL not in page
        assert EVIL in unescape(page)
    searched = ann.get(f"{CHANNELS}/new?q={EVIL}").text
    assert EVIL not in searched


def test_the_address_to_copy_leads_to_the_instance(world: ServedWorld, ann: Person) -> None:
    number = hook(world)
    page = ann.get(f"{CHANNELS}/{number}").text
    address = f"{world.url}/api/agent/channels/http-webhook/{number}/webhook"
    assert f'data-copy="{address}"' in page
    assert "Waiting for the first message" in page


def test_the_gallery_finds_channels_and_says_which_wait_for_an_address(ann: Person) -> None:
    whole = ann.get(f"{CHANNELS}/new").text
    assert whole.count("needs a public address") == 4  # the note, and the three that the platform has to call
    found = ann.get(f"{CHANNELS}/new?q=whats").text
    assert "WhatsApp Business" in found
    assert "Slack" not in found.partition('id="gallery"')[2]


def test_the_list_says_which_channels_need_attention(
    world: ServedWorld, ann: Person, client: Callable[[str], httpx.Client]
) -> None:
    hook(world, "Good one")
    world.run(
        world.container.use_cases().instances.create(ANN, NewInstance("enterprise-chat", "Half done", {}))
    )
    everything = unescape(ann.get(CHANNELS).text)
    assert "Good one" in everything
    assert "At least one should be given: “Webhook URL”" in everything
    failing = ann.get(f"{CHANNELS}?show=failing").text
    assert "Half done" in failing
    assert "Good one" not in failing
    assert "Half done" in client("admin").get(CHANNELS).text
    assert "Half done" not in client("bob").get(CHANNELS).text


def test_a_linked_device_waits_for_its_code(world: ServedWorld, ann: Person) -> None:
    new = NewInstance("linked-device-messaging", "Phone", {"phoneNumber": "4915112345678"}, "agent::echo")
    number = world.run(world.container.use_cases().instances.create(ANN, new)).instance_id
    page = ann.get(f"{CHANNELS}/{number}").text
    assert "waiting for the code to be entered" in page
    assert "Ask for a new code" in page
    assert "every 3s" in ann.get(f"{CHANNELS}/{number}/health").text
    world.run(
        world.container.database().execute(
            f"UPDATE instance_health SET pairing_code = 'ABCD-1234' WHERE instance_id = {number}"
        )
    )
    assert 'data-copy="ABCD-1234"' in ann.get(f"{CHANNELS}/{number}/health").text


def test_too_many_checks_are_said_beside_the_button(client: Callable[[str], httpx.Client]) -> None:
    eve = client("eve")
    path, csrf = f"{CHANNELS}/new/community-chat/check-credentials", CSRF.search(eve.get(CHANNELS).text)
    assert csrf
    fields = {"csrf": csrf[1], "channelName": "Chat", "config-channelId": "c", "config-token": "t"}
    fields["config-SERVER_URL"] = "http://169.254.169.254"
    answers = [eve.post(path, data=fields, headers=HTMX) for _ in range(TRIES + 1)]
    assert "address policy" in answers[0].text
    assert "too often" in answers[-1].text


def test_markup_in_the_words_of_a_platform_is_text(world: ServedWorld, ann: Person, chat: Mattermost) -> None:
    config = {"SERVER_URL": chat.url, "channelId": CHANNEL, "token": TOKEN}
    chat.next_reply(403, {"message": EVIL})
    new = NewInstance("community-chat", "Chat", config, "agent::echo")
    number = world.run(world.container.use_cases().instances.create(ANN, new)).instance_id
    pages = [ann.get(f"{CHANNELS}/{number}").text, ann.get(CHANNELS).text]
    chat.next_reply(403, {"message": EVIL})
    pages.append(ann.post(f"{CHANNELS}/{number}/check-credentials", headers=HTMX).text)
    chat.next_reply(403, {"message": EVIL})
    pages.append(ann.post(f"{CHANNELS}/{number}/check-credentials").text)
    for page in pages:
        assert EVIL not in page
        assert EVIL in unescape(page)


def test_the_tag_of_a_web_chat_is_there_to_copy(world: ServedWorld, ann: Person) -> None:
    saved = ann.post(f"{CHANNELS}/new/web-chat", channelName="Shop", downStreamResourceId="agent::echo")
    page = ann.get(saved.headers["location"]).text
    assert re.search(r'data-copy="&lt;script src=[^"]*/web-chat.js', page)
    assert "No web page may show this chat yet" in page


def test_what_is_not_answered_is_listed_and_released(world: ServedWorld, ann: Person, bob: Person) -> None:
    number = hook(world)
    event = Event(
        "k1", "s1", Sender("news@shop.example", EVIL), EVIL, {}, context={"subject": EVIL}, refused="list"
    )

    async def add() -> None:
        async with world.container.database().transaction() as connection:
            await add_unanswered(connection, number, [event])

    world.run(add())
    path = f"{CHANNELS}/{number}/unanswered"
    assert f'href="{path}">Not answered: 1</a>' in ann.get(f"{CHANNELS}/{number}").text
    page = ann.get(path).text
    assert unescape(page).count(EVIL) == 3
    assert EVIL not in page
    release = re.search(rf'action="({path}/\d+/release)"', page)
    assert release
    assert bob.get(path).status_code == 403
    assert bob.post(release[1], "/console").status_code == 403
    assert ann.post(release[1], path).status_code == 303
    assert "There is no such message." in ann.get(path).text
    assert ann.post(release[1], path).status_code == 404


def test_the_form_of_a_mailbox_proposes_the_last_day(ann: Person) -> None:
    assert re.search(r'name="config-since"[^>]*value="24"', ann.get(f"{CHANNELS}/new/email").text)
