"""What happens to records in an Odoo of our own, in good and in bad times."""

import json
from collections.abc import AsyncIterator, Mapping
from datetime import timedelta
from typing import Any

import pytest

from adapters.outbound.channels.erp_events import watching
from adapters.outbound.channels.erp_events.channel import build
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import NOW, client, dependencies
from domain.channels.answers import Answer
from domain.channels.messages import Event, Outcome
from ports.capabilities import PlatformError, Polled, PollFailed
from tests.support.platforms.odoo import DATABASE, KEY, LOGIN, OURSELVES, Odoo


@pytest.fixture(params=["jsonrpc", "json/2"])
async def odoo(request: pytest.FixtureRequest) -> AsyncIterator[ChannelCalls]:
    async with Odoo.run(has_json_rpc=request.param == "jsonrpc") as platform:
        yield platform


@pytest.fixture
async def channel() -> AsyncIterator[ChannelCalls]:
    async with client() as http:
        yield ChannelCalls(build(dependencies(http)))


@pytest.fixture
def config(odoo: Odoo) -> dict[str, Any]:
    return {
        "erpUrl": f"{odoo.url}/",
        "database": DATABASE,
        "username": LOGIN,
        "password": KEY,
        "models": "res.partner",
        "events": "create,write,unlink",
    }


class Poller:
    """Polls with the cursor stored as JSON in between, as the service does."""

    def __init__(self, channel: ChannelCalls, config: dict[str, Any]) -> None:
        self.channel = channel
        self.config = config
        self.cursor: Mapping[str, Any] | None = None
        self.more = False
        self.created = NOW

    async def __call__(self, **changes: Any) -> list[Event]:
        given = {**self.config, **changes}
        polled: Polled = await self.channel.poll(given, self.cursor, NOW, self.created)
        self.cursor = json.loads(json.dumps(dict(polled.cursor)))
        self.more = polled.more
        return list(polled.events)


@pytest.fixture
def poll(channel: ChannelCalls, config: dict[str, Any]) -> Poller:
    return Poller(channel, config)


def heads(events: list[Event]) -> list[str]:
    return [event.text.partition(": {")[0] for event in events]


async def test_has_the_capabilities_of_an_erp(channel: ChannelCalls) -> None:
    assert channel.has("poller", "sender", "probe")
    assert channel.default_interval_minutes == 5


async def test_the_first_poll_reports_nothing(odoo: Odoo, poll: Poller) -> None:
    odoo.make("Old")
    assert await poll() == []
    assert await poll() == []


async def test_the_first_poll_reports_what_came_after_the_instance(odoo: Odoo, poll: Poller) -> None:
    old, changed = odoo.make("Old"), odoo.make("Old too")
    odoo.wait(minutes=2)
    poll.created = odoo.time.replace(microsecond=400_000)
    odoo.change(changed, name="New name")
    made = odoo.make("New")
    odoo.make("Stamped ahead", at=NOW + timedelta(minutes=2))
    odoo.wait(hours=1)
    assert heads(await poll()) == [
        f"Odoo write event in res.partner (ID: {changed})",
        f"Odoo create event in res.partner (ID: {made})",
    ]
    assert await poll() == []
    odoo.change(old, name="New too")
    assert heads(await poll()) == [f"Odoo write event in res.partner (ID: {old})"]


async def test_a_second_change_within_the_second_that_was_looked_at(odoo: Odoo, poll: Poller) -> None:
    await poll()
    odoo.wait(minutes=1)
    first, second = odoo.make("One"), odoo.make("Two")
    assert len(await poll()) == 2
    odoo.change(first, name="One more")
    third = odoo.make("Three")
    events = await poll()
    assert heads(events) == [
        f"Odoo write event in res.partner (ID: {first})",
        f"Odoo create event in res.partner (ID: {third})",
    ]
    assert events[0].key is not None
    assert events[0].key.startswith(f"res.partner:{first}:2026-11-20 09:01:00#")
    odoo.change(second, by=OURSELVES)
    assert [await poll() for _ in range(3)] == [[], [], []]


async def test_records_that_stay_as_they_are_are_not_read_for_ever(odoo: Odoo, poll: Poller) -> None:
    await poll()
    odoo.make("One")
    for _ in range(2):
        await poll()
    reads = [each for each in odoo.reads if "name" in each]
    await poll()
    assert [each for each in odoo.reads if "name" in each] == reads


async def test_a_new_record_is_created(odoo: Odoo, poll: Poller) -> None:
    odoo.make("Old")
    await poll()
    odoo.wait(minutes=1)
    record_id = odoo.make("Workshop GmbH")
    (event,) = await poll()
    assert event.session_id == f"res.partner:{record_id}"
    assert event.sender.external_id == "5"
    assert event.sender.display_name == "Maria Berg"
    head, _, record = event.text.partition("): ")
    assert head == f"Odoo create event in res.partner (ID: {record_id}"
    assert json.loads(record) == {
        "id": record_id,
        "name": "Workshop GmbH",
        "create_date": "2026-11-20 09:01:00",
        "write_date": "2026-11-20 09:01:00",
        "write_uid": [5, "Maria Berg"],
        "active": True,
        "note_count": 0,
        "partner_name": False,
    }
    assert await poll() == []


async def test_the_first_record_of_an_empty_table_is_created(odoo: Odoo, poll: Poller) -> None:
    await poll()
    odoo.make("First")
    assert heads(await poll()) == ["Odoo create event in res.partner (ID: 1)"]
    assert await poll() == []


@pytest.mark.parametrize("minutes", [1, 9, 11, 10_000])
async def test_a_changed_record_is_written(odoo: Odoo, poll: Poller, minutes: int) -> None:
    record_id = odoo.make("Old")
    await poll()
    odoo.wait(minutes=minutes)
    odoo.change(record_id, name="New")
    assert heads(await poll()) == [f"Odoo write event in res.partner (ID: {record_id})"]
    odoo.wait(minutes=minutes)
    odoo.change(record_id, name="Newer")
    assert heads(await poll()) == [f"Odoo write event in res.partner (ID: {record_id})"]
    assert await poll() == []


async def test_a_deleted_record_is_unlinked(odoo: Odoo, poll: Poller) -> None:
    first, second = odoo.make("One"), odoo.make("Two")
    await poll()
    odoo.remove(first)
    (event,) = await poll()
    assert event.text == f'Odoo unlink event in res.partner (ID: {first}): {{"id": {first}}}'
    odoo.remove(second)
    assert len(await poll()) == 1
    assert await poll() == []


async def test_an_archived_record_is_written_and_not_unlinked(odoo: Odoo, poll: Poller) -> None:
    record_id = odoo.make("One")
    await poll()
    odoo.wait(minutes=1)
    odoo.change(record_id, active=False)
    assert heads(await poll()) == [f"Odoo write event in res.partner (ID: {record_id})"]


@pytest.mark.parametrize(
    ("events", "expected"),
    [
        ("create", ["create"]),
        ("write", ["write"]),
        (" unlink ,", ["unlink"]),
        ("CREATE, Write", ["write", "create"]),
    ],
)
async def test_only_the_events_asked_for_are_reported(
    odoo: Odoo, poll: Poller, events: str, expected: list[str]
) -> None:
    kept, gone = odoo.make("Kept"), odoo.make("Gone")
    await poll(events=events)
    odoo.wait(minutes=1)
    odoo.change(kept, name="Changed")
    odoo.make("New")
    odoo.remove(gone)
    assert [head.split()[1] for head in heads(await poll(events=events))] == expected


async def test_a_note_within_the_second_of_the_change_is_no_event(
    odoo: Odoo, channel: ChannelCalls, poll: Poller, config: dict[str, Any]
) -> None:
    await poll()
    odoo.wait(minutes=1)
    odoo.make("Workshop GmbH")
    for _ in range(9):
        for event in await poll():
            for part in channel.render(config, event.target, Answer("Noted")):
                assert (await channel.send(config, event.target, part, "key")).outcome is Outcome.SENT
    assert len(odoo.notes) == 1


@pytest.mark.parametrize(
    "name",
    [
        "category_id",
        "message_ids",
        "message_follower_ids",
        "message_main_attachment_id",
        "message_bounce",
        "website_message_ids",
        "activity_ids",
        "activity_date_deadline",
        "my_activity_date_deadline",
        "rating_last_value",
        "__last_update",
        "access_token",
    ],
)
async def test_what_changes_without_the_record_is_no_event(odoo: Odoo, poll: Poller, name: str) -> None:
    await poll()
    odoo.wait(minutes=1)
    record_id = odoo.make("Workshop GmbH")
    assert len(await poll()) == 1
    odoo.tables["res.partner"][record_id][name] = "changed"
    assert await poll() == []
    assert not any(name in fields for fields in odoo.reads)


@pytest.mark.parametrize("name", ["note_count", "partner_name"])
async def test_what_odoo_computes_is_told_and_its_change_alone_is_no_event(
    odoo: Odoo, poll: Poller, name: str
) -> None:
    await poll()
    odoo.wait(minutes=1)
    record_id = odoo.make("Workshop GmbH")
    (event,) = await poll()
    assert f'"{name}": ' in event.text
    odoo.tables["res.partner"][record_id][name] = 7
    assert await poll() == []


async def test_a_field_that_changes_with_every_note_ends_after_one_more_event(
    odoo: Odoo, poll: Poller
) -> None:
    await poll()
    odoo.wait(minutes=1)
    record_id = odoo.make("Workshop GmbH")
    found = []
    for number in range(9):
        found.append(len(await poll()))
        odoo.tables["res.partner"][record_id]["name"] = f"Noted {number} times"
    assert found == [1, 1, 0, 0, 0, 0, 0, 0, 0]


async def test_our_own_changes_are_no_events(odoo: Odoo, poll: Poller) -> None:
    record_id = odoo.make("One")
    await poll()
    odoo.wait(minutes=1)
    odoo.change(record_id, by=OURSELVES)
    assert await poll() == []
    odoo.wait(minutes=1)
    odoo.change(record_id)
    assert len(await poll()) == 1


async def test_a_late_commit_is_noticed_once(odoo: Odoo, poll: Poller) -> None:
    odoo.make("One")
    await poll()
    odoo.wait(minutes=8)
    odoo.make("Two")
    assert len(await poll()) == 1
    odoo.make("Began before, came after", at=odoo.time - timedelta(minutes=5))
    assert heads(await poll()) == ["Odoo create event in res.partner (ID: 3)"]
    assert await poll() == []


async def test_many_records_of_one_moment_come_in_portions(
    odoo: Odoo, poll: Poller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watching, "MAX_RECORDS", 7)
    await poll()
    for number in range(20):
        odoo.make(f"Imported {number}")
    sizes, ids = [], []
    while True:
        events = await poll()
        sizes.append(len(events))
        ids += [event.session_id for event in events]
        if not poll.more:
            break
    assert sizes == [7, 7, 6]
    assert ids == [f"res.partner:{number}" for number in range(1, 21)]
    assert await poll() == []


async def test_each_model_has_its_own_place(odoo: Odoo, poll: Poller) -> None:
    both = {"models": "res.partner, sale.order,res.partner"}
    await poll()
    odoo.make("Order", "sale.order")
    assert await poll(**both) == []  # watching of orders begins here
    odoo.wait(minutes=1)
    odoo.make("Order", "sale.order")
    odoo.make("Partner")
    assert heads(await poll(**both)) == [
        "Odoo create event in res.partner (ID: 1)",
        "Odoo create event in sale.order (ID: 2)",
    ]


async def test_another_database_begins_anew(odoo: Odoo, poll: Poller) -> None:
    await poll()
    assert poll.cursor is not None
    poll.cursor = {**poll.cursor, "source": "https://old.example workshop"}
    odoo.make("Old there")
    assert await poll() == []


async def test_keys_name_record_and_change(odoo: Odoo, poll: Poller) -> None:
    record_id = odoo.make("One")
    await poll()
    odoo.wait(minutes=1)
    odoo.change(record_id, name="Two")
    (first,) = await poll()
    odoo.wait(minutes=1)
    odoo.change(record_id, name="Three")
    (second,) = await poll()
    assert first.key == f"res.partner:{record_id}:2026-11-20 09:01:00:write"
    assert first.key != second.key


async def test_binary_and_computed_fields_are_not_read(odoo: Odoo, poll: Poller) -> None:
    await poll()
    odoo.make("One")
    await poll()
    named = {"active", "create_date", "id", "name", "write_date", "write_uid", "note_count", "partner_name"}
    assert set(odoo.reads[-1]) == named


# --- trouble


@pytest.mark.parametrize("change", [{"password": "wrong"}, {"username": "wrong"}])
async def test_wrong_credentials_end_the_polling(odoo: Odoo, poll: Poller, change: dict[str, str]) -> None:
    with pytest.raises(PollFailed) as caught:
        await poll(**change)
    assert caught.value.fatal
    assert "wrong" not in str(caught.value)


async def test_a_model_that_does_not_exist_is_named(odoo: Odoo, poll: Poller) -> None:
    with pytest.raises(PollFailed, match=r"x\.missing.*doesn't exist") as caught:
        await poll(models="res.partner,x.missing")
    assert not caught.value.fatal


async def test_a_server_that_is_away_is_tried_again(poll: Poller) -> None:
    with pytest.raises(PollFailed, match="reached") as caught:
        await poll(erpUrl="http://127.0.0.1:1")
    assert not caught.value.fatal


@pytest.mark.parametrize(("status", "headers", "wait"), [(429, {"retry_after": "8"}, 8.0), (502, {}, None)])
async def test_a_busy_server_is_tried_again(
    odoo: Odoo, poll: Poller, status: int, headers: dict[str, str], wait: float | None
) -> None:
    odoo.next_reply(status, body=b"<html>", **headers)
    with pytest.raises(PollFailed) as caught:
        await poll()
    assert (caught.value.fatal, caught.value.retry_after) == (False, wait)


@pytest.mark.parametrize("answer", [["x"], {"result": 5}, {"jsonrpc": "2.0", "result": {"a": 1}}, {}])
async def test_a_server_that_answers_nonsense_is_survived(odoo: Odoo, poll: Poller, answer: Any) -> None:
    for _ in range(6):
        odoo.next_reply(200, answer)
    with pytest.raises(PollFailed):
        await poll()


async def test_the_outbound_policy_holds(odoo: Odoo, config: dict[str, Any]) -> None:
    async with client("public-only") as http:
        with pytest.raises(PollFailed):
            await ChannelCalls(build(dependencies(http))).poll(config, None, NOW, NOW)
    assert odoo.seen == []


async def test_probing_tries_credentials_and_models(
    odoo: Odoo, channel: ChannelCalls, config: dict[str, Any]
) -> None:
    await channel.probe(config)
    with pytest.raises(PlatformError):
        await channel.probe({**config, "password": "wrong"})
    with pytest.raises(PlatformError, match="doesn't exist"):
        await channel.probe({**config, "models": "x.missing"})


async def test_probing_notices_that_odoo_would_refuse_each_note(
    odoo: Odoo, channel: ChannelCalls, config: dict[str, Any]
) -> None:
    odoo.email = ""
    with pytest.raises(PlatformError, match=r"user switchboard@workshop\.example has no e-mail address"):
        await channel.probe(config)
