"""Gateway, core and worker as processes of their own, on one PostgreSQL over TCP and one Redis."""

import contextlib
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import httpx
import psycopg
import pytest
from redis import Redis

from tests.e2e.apart import Apart
from tests.support.ports import free_port
from tests.support.postgres import on_database
from tests.support.receiver import Receiver
from tests.support.service import STOPPED_S, Service, one_line, run_once
from tests.support.waiting import until

pytestmark = pytest.mark.processes


@contextlib.contextmanager
def closed_database(dsn: str) -> Iterator[None]:
    """Nobody is let into the database, and those who are in it are thrown out."""
    with psycopg.connect(on_database(dsn, "postgres"), autocommit=True) as connection:
        connection.execute("ALTER DATABASE apart ALLOW_CONNECTIONS false")
        thrown_out = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = 'apart'"
        until(lambda: not connection.execute(thrown_out).fetchall(), "nobody is in it")
        yield
        connection.execute("ALTER DATABASE apart ALLOW_CONNECTIONS true")


def listening(dsn: str) -> int:
    """How many processes wait for wake-ups."""
    with psycopg.connect(on_database(dsn, "postgres")) as connection:
        row = connection.execute(
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN %' AND state = 'idle'"
        ).fetchone()
    assert row is not None
    return int(row[0])


def check_web_chat(gateway: Service, client: httpx.Client) -> None:
    """A visitor whose stream is open sees the answer that the worker's process made."""
    fields = {"channelId": "web-chat", "channelName": "site", "downStreamResourceId": "agent::echo"}
    created = gateway.create_instance(config={}, **fields)
    found = client.get(f"/api/agent/channel-instances/{created['instanceId']}").json()
    base = f"/api/agent/web-chat/{found['publicId']}"
    token = client.post(f"{base}/session", json={}).json()["visitor"]
    headers = {"Authorization": f"Bearer {token}"}
    with client.stream("GET", f"{base}/stream", headers=headers) as stream:
        message = {"id": str(uuid4()), "text": "from the site"}
        assert client.post(f"{base}/messages", json=message, headers=headers).status_code == 202
        finished = (
            line for line in stream.iter_lines() if '"from":"agent"' in line and '"draft":false' in line
        )
        assert "from the site" in next(finished)


def check_proof(gateway: Service) -> None:
    """A gateway without the service key works, and says once that its core does not know it as a gateway."""
    told = "does not know that this is a gateway"
    until(lambda: told in gateway.output, "it is said")
    assert gateway.output.count(told) == 1


def check_pages(gateway: Service) -> None:
    """Pages, and what takes libraries of its own, are there with the libraries of the gateway's image."""
    headers = {"Authorization": f"Bearer {gateway.key}"}
    for path in ("/docs", "/openapi.json", "/metrics", "/console/sign-in"):
        assert httpx.get(gateway.base + path, follow_redirects=True, timeout=60).status_code == 200, path
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
    accepted = {**headers, "Accept": "application/json, text/event-stream"}
    assert httpx.post(f"{gateway.base}/mcp", json=call, headers=accepted, timeout=60).status_code == 200
    key = {"HTTP_PORT": str(gateway.http_port)}
    assert run_once(gateway.data_dir, "healthcheck", settings=key).returncode == 0
    nobody = run_once(gateway.data_dir, "healthcheck", settings={"HTTP_PORT": str(free_port())})
    assert nobody.returncode == 1
    assert "does not answer" in nobody.stderr


def check_operators(apart: Apart, *, away: bool) -> None:
    """Core and worker tell each what they did, and the same of the database while it answers."""
    for command in ("core", "worker"):
        assert apart.asked(command, "/healthz").status_code == 200
        assert apart.asked(command, "/readyz").status_code == (503 if away else 200)
        told = apart.asked(command, "/metrics").text
        assert f"switchboard_database_up {0 if away else 1}.0" in told
        assert ('switchboard_queue_oldest_seconds{queue="inbound"}' in told) is not away
        assert apart.asked(command, "/api/agent/doctor").status_code == 404
    assert 'switchboard_accepted_total{channel="http-webhook"}' in apart.asked("core", "/metrics").text
    worked = 'switchboard_processed_total{channel="http-webhook",outcome="answered"}'
    assert worked in apart.asked("worker", "/metrics").text


def test_a_message_goes_through_all_three_and_survives_the_loss_of_each(
    open_folder: Path, external_settings: dict[str, str], tcp_server: tuple[str, int], redis_url: str
) -> None:
    with Receiver() as receiver, Apart(open_folder, external_settings) as apart:
        gateway = apart.gateway
        fields = {"channelId": "http-webhook", "downStreamResourceId": "agent::echo"}
        config = {"responseWebhookUrl": receiver.url}
        created = gateway.create_instance(channelName="later", config=config, **fields)
        waiting = gateway.create_instance(channelName="at once", config={"syncResponse": True}, **fields)
        hook = "/api/agent/channels/http-webhook/{}/webhook"
        later, at_once = hook.format(created["instanceId"]), hook.format(waiting["instanceId"])

        def accepted(text: str) -> None:
            """A connection that nobody used since it broke refuses once more, and so a platform asks again."""

            def taken() -> bool:
                answer = client.post(later, json={"message": text}, headers={"Idempotency-Key": text})
                assert answer.status_code in (200, 503), answer.text
                return answer.status_code == 200 and answer.json()["status"] == "accepted"

            until(taken, f"{text!r} is accepted")

        def answered(text: str) -> bool:
            return text in [body["response"] for body in receiver.bodies]

        def database_is_told_to_be_away() -> bool:
            answer = client.get("/readyz")
            checks = answer.json()["checks"]
            said = "the core says that its database is away, or takes no writes"
            return (answer.status_code, checks["database"], checks["queue"]) == (503, said, "ok")

        with gateway.client() as client:
            answer = client.post(at_once, json={"message": "here and now"})
            assert (answer.status_code, answer.json()["response"]) == (200, "here and now")
            accepted("first")
            until(lambda: answered("first"), "the first answer")
            check_web_chat(gateway, client)
            check_pages(gateway)
            check_proof(gateway)
            check_operators(apart, away=False)
            assert (
                'callback_seconds_count{channel="http-webhook",status="200"}' in client.get("/metrics").text
            )

            apart.worker.kill_everything()
            accepted("without a worker")
            apart.worker.start()
            until(lambda: answered("without a worker"), "the answer of the next worker")

            with Redis.from_url(redis_url) as redis:
                redis.flushall()
            accepted("after the queue was wiped")
            until(lambda: answered("after the queue was wiped"), "the answer without the queue's memory")

            with closed_database(tcp_server[0]):
                away = client.post(later, json={"message": "nowhere to put it"})
                assert (away.status_code, away.headers["retry-after"]) == (503, "2")
                assert "the database is away" in away.json()["error"]
                until(database_is_told_to_be_away, "the gateway hears of it")
                check_operators(apart, away=True)
            until(lambda: client.get("/readyz").status_code == 200, "the database is found again")
            until(lambda: listening(tcp_server[0]) == 2, "core and worker hear each other again")
            accepted("after the database was away")
            until(lambda: answered("after the database was away"), "the answer over new connections")

            apart.core.kill_everything()
            away = client.post(later, json={"message": "nobody there"})
            assert away.status_code == 503
            assert "error" in away.json()
            apart.core.start()
            until(lambda: client.get("/readyz").status_code == 200, "the gateway finds the core again")
            accepted("with a new core")
            until(lambda: answered("with a new core"), "the answer over the new core")

            apart.worker.stop()
            accepted("nobody works")
            until(
                lambda: apart.asked("core", "/readyz").json()["checks"]["workers"] == "degraded",
                "the core says so",
            )
            until(
                lambda: client.get("/readyz").json()["checks"]["workers"] == "degraded", "so does the gateway"
            )
            assert "no worker runs" in client.get("/readyz").json()["reasons"]["workers"]
            apart.worker.start()
            until(lambda: answered("nobody works"), "the answer of a worker that was started late")
        assert not answered("nobody there")
        assert not answered("nowhere to put it")
        for service in (apart.gateway, apart.worker, apart.core):
            assert service.stop() < STOPPED_S
            assert service.process.returncode == 0
            assert "Traceback" not in service.output


def test_everything_in_one_process_on_an_external_database(
    open_folder: Path, external_settings: dict[str, str]
) -> None:
    with Receiver() as receiver, Service(open_folder / "data", "up", external_settings) as service:
        created = service.create_instance(
            channelId="http-webhook",
            channelName="echo",
            downStreamResourceId="agent::echo",
            config={"responseWebhookUrl": receiver.url},
        )
        with service.client() as client:
            client.post(
                f"/api/agent/channels/http-webhook/{created['instanceId']}/webhook", json={"message": "hello"}
            )
        until(lambda: [body["response"] for body in receiver.bodies] == ["hello"], "the answer")
        assert not (service.data_dir / "postgres").exists()
        assert service.stop() < STOPPED_S


@pytest.mark.parametrize("command", ["up", "worker"])
def test_a_database_without_the_extension_is_one_line(
    open_folder: Path, external_settings: dict[str, str], tcp_server: tuple[str, int], command: str
) -> None:
    with psycopg.connect(on_database(tcp_server[0], "apart")) as connection:
        connection.execute("DROP EXTENSION vector")
    ports = {"HTTP_PORT": str(free_port()), "GRPC_PORT": str(free_port())}
    line = one_line(run_once(open_folder / "data", command, settings={**external_settings, **ports}))
    assert "the extension 'vector' cannot be created" in line
    assert 'have a superuser run: CREATE EXTENSION "vector"' in line


@pytest.mark.parametrize(
    ("part", "instead", "words"),
    [
        ("sesame", "wrong", "password authentication failed"),
        ("/apart", "/elsewhere", 'database "elsewhere" does not exist'),
    ],
)
def test_a_wrong_database_url_is_named(
    open_folder: Path, external_settings: dict[str, str], part: str, instead: str, words: str
) -> None:
    wrong = external_settings["DATABASE_URL"].replace(part, instead)
    settings = {**external_settings, "DATABASE_URL": wrong, "HTTP_PORT": str(free_port())}
    line = one_line(
        run_once(open_folder / "data", "up", settings={**settings, "GRPC_PORT": str(free_port())})
    )
    assert words in line
    assert "sesame" not in line


def test_an_agent_that_is_changed_at_the_gateway_is_changed_in_the_worker(
    open_folder: Path, external_settings: dict[str, str], tcp_server: tuple[str, int], redis_url: str
) -> None:
    with (
        Receiver(lambda _: {"text": "the first"}) as first,
        Receiver(lambda _: {"text": "the second"}) as second,
        Apart(open_folder, external_settings) as apart,
        httpx.Client(
            base_url=apart.gateway.base,
            headers={"Authorization": f"Bearer {apart.gateway.key}"},
            timeout=60,
        ) as client,
    ):
        settings = {"url": first.url}
        agent = client.post("/api/agent/agents", json={"name": "A", "kind": "http", "settings": settings})
        assert agent.status_code == 201, agent.text
        created = apart.gateway.create_instance(
            channelId="http-webhook",
            channelName="asked",
            config={"syncResponse": True},
            downStreamResourceId=agent.json()["resourceId"],
        )
        hook = f"/api/agent/channels/http-webhook/{created['instanceId']}/webhook"

        def answer() -> str:
            return str(client.post(hook, json={"message": "Who?"}).json()["response"])

        assert answer() == "the first"
        changed = {"settings": {"url": second.url}}
        place = f"/api/agent/agents/{agent.json()['id']}"
        assert client.put(place, json=changed).status_code == 200
        until(lambda: answer() == "the second", "the worker has read the change", seconds=30)
        assert client.delete(place).status_code == 409
