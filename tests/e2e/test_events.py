"""Streams of events of whole processes: nothing is missed across kills, slow readers cost nothing, keys count."""

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from switchboard.events.v1 import events_pb2, events_pb2_grpc

from tests.e2e.apart import Apart
from tests.e2e.test_kill import ENOUGH, Load, all_answered, echo_instance
from tests.support.event_log import check_stories
from tests.support.event_reader import EventReader
from tests.support.receiver import Receiver
from tests.support.service import STOPPED_S, Service, run_once
from tests.support.waiting import until

pytestmark = pytest.mark.processes

ROUNDS = 3
STALLED = 40


def test_killing_everything_again_and_again_misses_no_event(open_folder: Path) -> None:
    with Receiver() as receiver, Service(open_folder / "data") as service:
        load = Load(echo_instance(service, receiver))
        reader = EventReader(service.base, service.key).start()
        with load.running():
            for number in range(ROUNDS):
                if number:
                    service.start()
                goal = len(load.acknowledged) + ENOUGH
                until(lambda goal=goal: len(load.acknowledged) >= goal, "enough messages", seconds=120)
                service.kill_everything(database_first=bool(number % 2))
        service.start()
        all_answered(load, receiver)

        def sent() -> set[str]:
            texts = {
                event["data"]["messageId"]: event["data"]["text"]
                for event in list(reader.events)
                if event["kind"] == "message.answered"
            }
            sent = [event for event in list(reader.events) if event["kind"] == "delivery.sent"]
            return {texts[event["data"]["messageId"]] for event in sent}

        until(lambda: set(load.acknowledged) <= sent(), "each message is told of as sent", seconds=60)
        reader.stop()
        assert reader.resets == 0
        check_stories(reader.events, load.acknowledged)
        print(f"{len(reader.events)} events of {len(load.acknowledged)} messages")


def test_a_gateway_without_a_database_streams_the_events_of_the_core(
    open_folder: Path, external_settings: dict[str, str], redis_url: str
) -> None:
    with Receiver() as receiver, Apart(open_folder, external_settings) as apart:
        gateway = apart.gateway
        made = run_once(
            gateway.data_dir, "keys", "create", "--user", "bea", settings=apart.core.settings
        ).stdout.split()
        bea = next(word for word in made if word.startswith("sb_"))
        number = echo_instance(gateway, receiver).split("/")[-2]
        admin = EventReader(gateway.base, gateway.key).start()
        stranger = EventReader(gateway.base, bea, again=False).start()
        with gateway.client() as client:
            hook = f"/api/agent/channels/http-webhook/{number}/webhook"
            assert client.post(hook, json={"message": "hello", "sessionId": "s"}).status_code == 200
            admin.wait_for(["message.received", "message.answered", "delivery.sent"], "a message is told of")
            path = "/api/agent/events?instanceId={}"
            headers = {"Authorization": f"Bearer {bea}"}
            assert client.get(path.format(number), headers=headers).status_code == 403
            assert client.get(path.format(999), headers=headers).status_code == 404
            refused = client.get("/api/agent/events?kinds=message.lost")
            assert (refused.status_code, "message.lost" in refused.json()["error"]) == (400, True)
        assert stranger.events == []
        revoked = run_once(gateway.data_dir, "keys", "list", settings=apart.core.settings).stdout
        [line] = [line for line in revoked.splitlines() if "bea" in line]
        run_once(gateway.data_dir, "keys", "revoke", line.split()[0], settings=apart.core.settings)
        until(stranger.ended.is_set, "the stream of a revoked key ends", seconds=60)
        cursor = admin.cursor
        apart.core.kill_everything()
        apart.core.start()
        with gateway.client() as client:

            def taken() -> bool:
                with contextlib.suppress(Exception):
                    return client.post(hook, json={"message": "again", "sessionId": "s"}).status_code == 200
                return False

            until(taken, "the gateway finds the core again")
        admin.wait_for(["delivery.sent"] * 2, "events after the core came back")
        assert int(admin.cursor or 0) > int(cursor or 0)
        admin.stop()
        assert gateway.stop() < STOPPED_S


@contextlib.contextmanager
def unread_stream(service: Service) -> Iterator[None]:
    """A stream of all events over gRPC, of which the first message alone is taken."""
    with grpc.insecure_channel(f"127.0.0.1:{service.grpc_port}") as channel:
        metadata = (("authorization", f"Bearer {service.key}"),)
        call = events_pb2_grpc.EventsStub(channel).Watch(events_pb2.WatchRequest(), metadata=metadata)
        assert not next(call).HasField("event")
        yield
        call.cancel()


def memory(pid: int) -> int:
    """Kilobytes of main memory that a process has to itself, or shares."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line.split()[1] for line in status.splitlines() if line.startswith("VmRSS:")))


def connections(pid: int) -> int:
    """How many sockets a process has."""
    count = 0
    for path in Path(f"/proc/{pid}/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            count += str(path.readlink()).startswith("socket:")
    return count


def test_readers_that_stall_cost_a_bounded_memory_and_are_cut_off(open_folder: Path) -> None:
    """40 readers over HTTP and 10 over gRPC take nothing while events with 60 MB of texts come, which each of them
    would get."""
    settings = {"HTTP_STALL_TIMEOUT": "2"}
    with Receiver() as receiver, Service(open_folder / "data", settings=settings) as service:
        hook = echo_instance(service, receiver)
        request = f"GET /api/agent/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {service.key}\r\n\r\n"
        with contextlib.ExitStack() as stack:
            for _ in range(10):
                stack.enter_context(unread_stream(service))
            others = connections(service.process.pid)
            for _ in range(STALLED):
                connection = stack.enter_context(socket.socket())
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                connection.connect(("127.0.0.1", service.http_port))
                connection.sendall(request.encode())
            reader = EventReader(service.base, service.key).start()
            with service.client() as client:
                client.post(hook, json={"message": "warm", "sessionId": "s"})
                reader.wait_for(["message.answered"], "the service is warm")
                before, most = memory(service.process.pid), 0
                for number in range(200):
                    text = f"{number} " + "x" * 150_000
                    assert client.post(hook, json={"message": text, "sessionId": "s"}).status_code == 200
                    most = max(most, memory(service.process.pid))
            reader.wait_for(["message.answered"] * 201, "the other reader gets everything")
            most = max(most, memory(service.process.pid))
            print(f"{most - before} kB more with 50 stalled readers")
            assert most - before < 150_000
            few = others + STALLED // 2  # of the database and of answers
            until(lambda: connections(service.process.pid) <= few, "the stalled readers are cut off")
            reader.stop()
