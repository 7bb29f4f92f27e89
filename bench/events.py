"""What events cost: acknowledgements and dispatch with nobody listening, with events recorded, and with a reader.

python -m bench --only events
"""

import asyncio
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum

import psycopg
import uvloop

from apps.compose.container import Container
from bench import throughput
from bench.acknowledgement import Case, instances, telegram_script
from bench.database import Database
from bench.measuring import free_port, middle, python, server
from bench.ours import settings
from bench.part import Bench
from bench.platform import standing_in
from bench.report import Row
from bench.rounds import Figure
from domain.access.model import Role

CONVERSATIONS = 100
MESSAGES = 2000
LISTEN = "INSERT INTO event_listener VALUES ('bench', now() + interval '1 day') ON CONFLICT DO NOTHING"


class Listener(StrEnum):
    """Nobody: nothing is recorded. Elsewhere: events are recorded, and read by others. Here: a reader of all events
    besides, in the process that is measured or in that of the load."""

    NOBODY = "nobody"
    ELSEWHERE = "elsewhere"
    HERE = "here"


class Figures(dict[Listener, list[float]]):
    """The same, measured in turn."""

    def add(self, listener: Listener, figure: float) -> None:
        self.setdefault(listener, []).append(figure)

    def ratio(self, listener: Listener) -> Figure:
        pairs = zip(self[listener], self[Listener.NOBODY], strict=True)
        return Figure.of([one / other for one, other in pairs], "{:.3f}")


def run(bench: Bench) -> list[Row]:
    """A part of the bench that is measured only where it is named."""
    seconds = 1.0 if bench.quick else 2.0
    return [
        *_acknowledgements(bench.database, bench.rounds, seconds),
        *_dispatch(bench.database, bench.rounds),
    ]


def _turns(rounds: int) -> Iterator[Listener]:
    """Which comes first changes from round to round."""
    for number in range(rounds):
        order = list(Listener)
        yield from order[number % 3 :] + order[: number % 3]


def _acknowledgements(database: Database, rounds: int, seconds: float) -> list[Row]:
    dsn = database.fresh("events")
    telegram_id, _ = asyncio.run(instances(dsn))
    token = asyncio.run(_key(dsn))
    rates, cpu = Figures(), Figures()
    with standing_in() as platform:
        port = free_port()
        url = f"http://127.0.0.1:{port}/api/agent/channels/bot-messenger/{telegram_id}/webhook"
        with server([python(), "-m", "bench.ours", "intake", dsn, str(port), platform], port) as pid:
            case = Case(url, telegram_script, [pid])
            case.measure(database, 1.0)
            for listener in _turns(rounds):
                with _listening(dsn, port, token, listener):
                    found = case.measure(database, seconds)
                rates.add(listener, found.rate)
                cpu.add(listener, found.all_us)
    return [
        *_rows("acknowledgements a second", rates, "rps"),
        *_rows("CPU per acknowledgement, database included", cpu, "µs"),
    ]


async def _key(dsn: str) -> str:
    container = Container(settings=settings(), dsn=dsn, solitary=True)
    await container.database().open()
    _, token = await container.access().create_key("bench", Role.ADMIN)
    await container.database().close()
    return token


@contextmanager
def _listening(dsn: str, port: int, token: str, listener: Listener) -> Iterator[None]:
    """What others recorded is gone."""
    with psycopg.connect(dsn, autocommit=True) as connection, ExitStack() as stack:
        connection.execute("DELETE FROM event_listener")
        connection.execute("DELETE FROM event_log")
        connection.execute("VACUUM event_log")
        if listener is Listener.HERE:
            stack.enter_context(_reader(port, token))
        if listener is not Listener.NOBODY:
            connection.execute(LISTEN)
        yield


@contextmanager
def _reader(port: int, token: str) -> Iterator[None]:
    with socket.create_connection(("127.0.0.1", port)) as stream:
        request = f"GET /api/agent/events HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer {token}\r\n\r\n"
        stream.sendall(request.encode())
        assert b" 200 " in stream.recv(4096)
        threading.Thread(target=_drain, args=(stream,), daemon=True).start()
        yield
        stream.shutdown(socket.SHUT_RDWR)


def _drain(stream: socket.socket) -> None:
    while stream.recv(1 << 20):
        pass


def _dispatch(database: Database, rounds: int) -> list[Row]:
    rates, cpu = Figures(), Figures()
    for listener in _turns(rounds):
        dsn = database.fresh("events_dispatched")
        if listener is not Listener.NOBODY:
            with psycopg.connect(dsn, autocommit=True) as connection:
                connection.execute(LISTEN)
        load = throughput.Load(CONVERSATIONS, MESSAGES, MESSAGES // 4)
        made = uvloop.run(throughput.measure(database, dsn, 1, load, followed=listener is Listener.HERE))
        rates.add(listener, made.per_second)
        cpu.add(listener, made.cpu_us + made.database_us)
    return [
        *_rows("messages a second", rates, "messages/s"),
        *_rows("CPU of worker and database per message", cpu, "µs"),
    ]


def _rows(what: str, figures: Figures, unit: str) -> Iterator[Row]:
    alone = middle(figures[Listener.NOBODY])
    for listener in (Listener.ELSEWHERE, Listener.HERE):
        shown = f"{middle(figures[listener]):,.0f} {unit} / {alone:,.0f} {unit}"
        yield Row(
            f"{what}, a listener {listener} against nobody", value=figures.ratio(listener), details=shown
        )
