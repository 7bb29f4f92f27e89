"""What events cost: acknowledgements and dispatch with nobody listening, with events recorded, and with a reader.

python -m bench.events [ROUNDS]    measures these alone
"""

from __future__ import annotations

import asyncio
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from enum import StrEnum
from pathlib import Path

import psycopg
import uvloop

from adapters.outbound.storage.embedded import EmbeddedPostgres
from adapters.outbound.storage.migrate import migrate
from apps.container import Container
from bench import throughput
from bench.acknowledgement import Case, instances, telegram_script
from bench.measuring import cpu_seconds, family, free_port, middle, python, server
from bench.ours import settings
from bench.platform import standing_in
from domain.access.model import Role
from tests.support.postgres import on_database

Row = tuple[str, str, str, str]
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

    def ratio(self, listener: Listener) -> float:
        return middle(self[listener]) / middle(self[Listener.NOBODY])


def run(fresh: Callable[[str], str], database: int, rounds: int, seconds: float) -> list[Row]:
    """`fresh` makes a database of that name; `database` is the first process of its server."""
    return [
        *_acknowledgements(fresh("events"), database, rounds, seconds),
        *_dispatch(fresh, database, rounds),
    ]


def _turns(rounds: int) -> Iterator[Listener]:
    """Which comes first changes from round to round."""
    for number in range(rounds):
        order = list(Listener)
        yield from order[number % 3 :] + order[: number % 3]


def _acknowledgements(dsn: str, database: int, rounds: int, seconds: float) -> list[Row]:
    telegram_id, _ = asyncio.run(instances(dsn))
    token = asyncio.run(_key(dsn))
    rates, cpu = Figures(), Figures()
    with standing_in() as platform, tempfile.TemporaryDirectory() as folder:
        port = free_port()
        url = f"http://127.0.0.1:{port}/api/agent/channels/bot-messenger/{telegram_id}/webhook"
        with server([python(), "-m", "bench.ours", "intake", dsn, str(port), platform], port) as pid:
            Case("warm", url, telegram_script, [pid]).measure(Path(folder), 1.0)
            for listener in _turns(rounds):
                with _listening(dsn, port, token, listener):
                    case = Case("events", url, telegram_script, [pid, *family(database)])
                    case.measure(Path(folder), seconds)
                rates.add(listener, case.rps)
                cpu.add(listener, middle(case.cpu_us))
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


def _dispatch(fresh: Callable[[str], str], database: int, rounds: int) -> list[Row]:
    rates, cpu = Figures(), Figures()
    for number, listener in enumerate(_turns(rounds)):
        dsn = fresh(f"events_{number}")
        if listener is not Listener.NOBODY:
            with psycopg.connect(dsn, autocommit=True) as connection:
                connection.execute(LISTEN)
        before = cpu_seconds(*family(database))
        made = uvloop.run(
            throughput.measure(dsn, 1, CONVERSATIONS, MESSAGES, followed=listener is Listener.HERE)
        )
        of_database = (cpu_seconds(*family(database)) - before) / MESSAGES * 1e6
        rates.add(listener, made.per_second)
        cpu.add(listener, made.cpu_us + of_database)
    return [
        *_rows("messages a second", rates, "messages/s"),
        *_rows("CPU of worker and database per message", cpu, "µs"),
    ]


def _rows(what: str, figures: Figures, unit: str) -> Iterator[Row]:
    alone = middle(figures[Listener.NOBODY])
    for listener in (Listener.ELSEWHERE, Listener.HERE):
        shown = f"{middle(figures[listener]):,.0f} {unit} / {alone:,.0f} {unit}"
        yield f"{what}, a listener {listener} against nobody", f"{figures.ratio(listener):.3f}", "", shown


def main() -> None:
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        postgres = EmbeddedPostgres(Path(folder), tcp_port=None)
        dsn = postgres.start()
        try:
            migrate(dsn)

            def fresh(name: str) -> str:
                with psycopg.connect(on_database(dsn, "template1"), autocommit=True) as connection:
                    connection.execute(f"CREATE DATABASE {name} TEMPLATE switchboard".encode())
                return on_database(dsn, name)

            for row in run(fresh, postmaster(folder), rounds, 2.0):
                print(" | ".join(row), flush=True)
        finally:
            postgres.stop()


def postmaster(folder: str) -> int:
    """The first process of the server whose data lie in a folder."""
    [file] = Path(folder).rglob("postmaster.pid")
    return int(file.read_text().split()[0])


if __name__ == "__main__":
    main()
