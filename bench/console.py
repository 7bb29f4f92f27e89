"""Pages of the console against the REST calls beneath them, in one process, over the same database.

python -m bench.console

Each page and its calls are asked in turn, over ASGI, by one client. A page may take three times as long as its calls
one after the other. Bytes are those of the answer's body. Then Chromium opens the overview with nothing in its cache,
and the inbox after it: the time until a page is loaded, and the bytes over the wire.
"""

import json
import os
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from adapters.inbound.console.sessions import SESSION
from adapters.outbound.storage.embedded import EmbeddedPostgres
from adapters.outbound.storage.migrate import migrate
from domain.access.model import Role
from tests.drivers.served import ServedWorld
from tests.drivers.ways import Rest
from tests.drivers.world import World
from tests.support.browser import BROWSER, NONE_HERE, a_browser
from tests.support.postgres import on_database
from tests.support.waiting import until

INSTANCES, SESSIONS, MESSAGES = 20, 10, 5
ROUNDS, VISITS = 60, 11
LOADED = """() => {
  const all = [...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")];
  return [all[0].loadEventEnd, all.reduce((sum, each) => sum + each.transferSize, 0)];
}"""
BASE = "/api/agent"
HEALTH = f"{BASE}/instance-health?limit=200"
FIRST = "/channel-instances/1/conversations/s0"


@dataclass(frozen=True)
class Page:
    name: str
    path: str
    calls: tuple[str, ...]


PAGES = (
    Page("Overview", "/console", (HEALTH, f"{BASE}/figures?period=day")),
    Page("Inbox", "/console/inbox", (f"{BASE}/conversations", f"{BASE}/channel-instances")),
    Page(
        "Conversation",
        "/console/inbox/1/s0",
        (f"{BASE}{FIRST}/messages?latestFirst=true&limit=30", f"{BASE}/conversations?query=s0&limit=1"),
    ),
    Page("Problems", "/console/problems", (f"{BASE}/dead-letters",)),
    Page("Channels", "/console/channels", (HEALTH, f"{BASE}/channels")),
    Page("Knowledge", "/console/knowledge", (f"{BASE}/kb",)),
    Page("Keys", "/console/keys", (f"{BASE}/keys",)),
    Page("Schedules", "/console/schedules", (f"{BASE}/schedules",)),
    Page("Subscriptions", "/console/subscriptions", (f"{BASE}/event-subscriptions",)),
)


@dataclass(frozen=True)
class Figures:
    """Times in milliseconds, the middle of the rounds."""

    page: Page
    page_ms: float
    calls_ms: float
    page_bytes: int

    def row(self) -> str:
        ratio = self.page_ms / self.calls_ms
        return (
            f"| {self.page.name} | {self.page_ms:.1f} ms | {self.calls_ms:.1f} ms | {ratio:.2f} |"
            f" {self.page_bytes / 1000:.1f} kB |"
        )


def main() -> None:
    os.environ.setdefault("OUTBOUND_ALLOW", "127.0.0.0/8")
    with _filled_world() as world:
        rest = Rest(world)
        print("| Page | page | REST calls beneath | ratio | page's size |\n|---|---|---|---|---|")
        for page in PAGES:
            print(_measured(world, rest, page).row(), flush=True)
        rest.close()
        print(*_in_a_browser(world), sep="\n")


def _in_a_browser(world: ServedWorld) -> Iterator[str]:
    """A line for the first page and one for a later page, the middle of the rounds."""
    if BROWSER is None:
        yield NONE_HERE
        return
    cookie = {"name": SESSION, "value": _session(world), "url": f"{world.url}/console"}
    figures: dict[str, list[tuple[float, float]]] = {"/console": [], "/console/inbox": []}
    with a_browser() as browser:
        for _ in range(VISITS):
            context = browser.new_context()
            context.add_cookies([cookie])
            page = context.new_page()
            for path, seen in figures.items():
                page.goto(world.url + path)
                seen.append(tuple(page.evaluate(LOADED)))
            context.close()
    for path, seen in figures.items():
        ms, size = (median(values) for values in zip(*seen, strict=True))
        yield f"{path}: loaded after {ms:.0f} ms, {size / 1000:.1f} kB over the wire"


def _session(world: World) -> str:
    sessions = world.container.use_cases().sessions
    return world.run(sessions.sign_in(world.key_of("ann", Role.MEMBER), "192.0.2.1")).token


def _measured(world: World, rest: Rest, page: Page) -> Figures:
    as_browser = {"cookie": f"{SESSION}={_session(world)}", "accept": "text/html"}
    pages: list[float] = []
    calls: list[float] = []
    size = 0
    for _ in range(ROUNDS):
        spent, size = _timed(rest, [page.path], None, as_browser)
        pages.append(spent)
        calls.append(_timed(rest, page.calls, "ann", {})[0])
    return Figures(page, 1000 * median(pages), 1000 * median(calls), size)


def _timed(rest: Rest, paths: Sequence[str], user: str | None, headers: dict[str, str]) -> tuple[float, int]:
    """Seconds for all of them, and the bytes of the last."""
    began = time.perf_counter()
    for path in paths:
        answer = rest.request("GET", path, user, headers=headers)
        if answer.status_code != 200:
            raise SystemExit(f"{path} answers {answer.status_code}: {answer.text[:200]}")
    return time.perf_counter() - began, len(answer.content)


@contextmanager
def _filled_world() -> Iterator[ServedWorld]:
    """A service with conversations that were answered, of the user ann."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        with EmbeddedPostgres(Path(folder) / "postgres", fast_and_unsafe=True) as dsn:
            migrate(on_database(dsn, "postgres"))
            world = ServedWorld(on_database(dsn, "postgres"), Path(folder) / "data")
            world.start()
            try:
                _fill(world)
                yield world
            finally:
                world.stop()


def _fill(world: World) -> None:
    rest = Rest(world)
    for number in range(INSTANCES):
        body = {
            "channelId": "http-webhook",
            "channelName": f"Hook {number}",
            "config": {},
            "downStreamResourceId": "agent::echo",
        }
        instance_id = rest.create("ann", body).body["instanceId"]
        for session in range(SESSIONS):
            for message in range(MESSAGES):
                written = json.dumps({"message": f"Question {message}", "sessionId": f"s{session}"})
                rest.call("http-webhook", instance_id, written.encode(), {}, "webhook")
    waiting = "SELECT count(*) FROM inbox WHERE status = 0"
    until(lambda: world.run(world.container.database().fetch_value(waiting)) == 0, "all are answered")
    rest.close()


if __name__ == "__main__":
    main()
