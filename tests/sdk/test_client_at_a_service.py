"""The client against a whole service, which is killed while its events are read."""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import aclosing, closing
from pathlib import Path
from typing import Any

import pytest
from switchboard_sdk import ApiError, AsyncClient, Client

from tests.support.receiver import Receiver
from tests.support.service import Service
from tests.support.waiting import until

pytestmark = pytest.mark.processes

KINDS = ["message.received", "message.answered"]


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    with Receiver() as made:
        yield made


@pytest.fixture
def service(open_folder: Path) -> Iterator[Service]:
    with Service(open_folder / "data") as made:
        yield made


def client_of(service: Service, **options: Any) -> Client:
    return Client(service.base, str(service.key), **options)


def an_instance(client: Client, receiver: Receiver) -> int:
    created = client.create_instance(
        {
            "channelId": "http-webhook",
            "channelName": "Mine",
            "downStreamResourceId": "agent::echo",
            "config": {"responseWebhookUrl": receiver.url},
        }
    )
    return created["instanceId"]


class Reader:
    """Reads events in a thread until it is stopped; `texts` are those of the kinds that have one."""

    def __init__(self, read: Callable[["Reader"], None]) -> None:
        self.events: list[Any] = []
        self._thread = threading.Thread(target=read, args=(self,), daemon=True)
        self._thread.start()

    def texts(self, kind: str) -> list[str]:
        return [event["data"]["text"] for event in self.events if event["kind"] == kind]

    def join(self) -> None:
        self._thread.join(60)
        assert not self._thread.is_alive()


def read_blocking(service: Service, after: int) -> Callable[[Reader], None]:
    def read(reader: Reader) -> None:
        with client_of(service) as client, closing(client.events(kinds=KINDS, after=after)) as events:
            for event in events:
                reader.events.append(event)
                if event["kind"] == "message.answered" and event["data"]["text"] == "last":
                    return

    return read


def read_in_a_loop(service: Service, after: int) -> Callable[[Reader], None]:
    async def read(reader: Reader) -> None:
        async with (
            AsyncClient(service.base, str(service.key)) as client,
            aclosing(client.events(kinds=KINDS, after=after)) as events,
        ):
            async for event in events:
                reader.events.append(event)
                if event["kind"] == "message.answered" and event["data"]["text"] == "last":
                    return

    return lambda reader: asyncio.run(read(reader))


def write(client: Client, instance_id: int, text: str) -> None:
    body = {"message": text, "sessionId": "1"}
    client.request("POST", f"/api/agent/channels/http-webhook/{instance_id}/webhook", json=body)


def test_events_go_on_without_loss_when_the_service_was_killed(service: Service, receiver: Receiver) -> None:
    with client_of(service) as client:
        instance_id = an_instance(client, receiver)
        first = Reader(read_first(service))
        until(lambda: is_recorded(client, instance_id, first), "events are recorded")
        first.join()
        after = first.events[-1]["id"]
        readers = [Reader(read_blocking(service, after)), Reader(read_in_a_loop(service, after))]
        texts = []
        for number in range(3):
            if number:
                service.kill_everything()
                service.start()
            texts.append(f"message {number}")
            write(client, instance_id, texts[-1])
            until(
                lambda: all(texts[-1] in reader.texts("message.answered") for reader in readers), "it is read"
            )
        write(client, instance_id, "last")
        for reader in readers:
            reader.join()
            for kind in KINDS:
                read = [text for text in reader.texts(kind) if not text.startswith("before")]
                assert list(dict.fromkeys(read)) == [*texts, "last"]
            ids = [event["id"] for event in reader.events]
            assert ids == sorted(ids)


def read_first(service: Service) -> Callable[[Reader], None]:
    """Events are recorded while somebody listens: reads until the first one."""

    def read(reader: Reader) -> None:
        with client_of(service) as client, closing(client.events(kinds=["message.answered"])) as events:
            reader.events.append(next(events))

    return read


def is_recorded(client: Client, instance_id: int, reader: Reader) -> bool:
    write(client, instance_id, "before")
    return bool(reader.events)


def test_what_programs_do_most(service: Service, receiver: Receiver) -> None:
    with client_of(service) as client:
        instance_id = an_instance(client, receiver)
        assert [instance["id"] for instance in client.instances()] == [instance_id]
        assert client.instance_health(instance_id)["healthy"] in (True, False)
        sent = [
            client.send(instance_id, "hello", to=receiver.url, idempotency_key="order-1") for _ in range(2)
        ]
        assert sent[0]["messageId"] == sent[1]["messageId"]
        with pytest.raises(ApiError) as conflict:
            client.send(instance_id, "another text", to=receiver.url, idempotency_key="order-1")
        assert conflict.value.status == 409
        until(lambda: client.message(instance_id, sent[0]["messageId"])["status"] == "sent", "it is sent")
        assert len(receiver.bodies) == 1
        [conversation] = list(client.conversations(instance_ids=[instance_id]))
        messages = list(client.messages(instance_id, conversation["sessionId"]))
        assert [message["text"] for message in messages] == ["hello"]
        client.set_handler(instance_id, conversation["sessionId"], {"handler": "person", "minutes": 5})
        [conversation] = list(client.conversations(handler="person"))
        assert conversation["handler"] == "person"
        client.delete_instance(instance_id)
        with pytest.raises(ApiError, match="instance") as gone:
            client.instance(instance_id)
        assert gone.value.status == 404
