"""A reader of Server-Sent Events, as a browser reads them: connects again, and goes on from the last id."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from typing import Any

import httpx

from tests.support.plain_http import plain_client
from tests.support.waiting import until


class EventReader:
    """Reads in a thread until it is stopped. `events` are the data of what it got, `resets` counts the gaps it was
    told of, `statuses` are those of its connections."""

    def __init__(self, base: str, key: str | None, query: str = "", *, again: bool = True) -> None:
        self.events: list[dict[str, Any]] = []
        self.resets = 0
        self.statuses: list[int] = []
        self.ended = threading.Event()
        self.cursor: str | None = None
        self._address = f"{base}/api/agent/events{query}"
        self._headers = {"Authorization": f"Bearer {key}"}
        self._again = again
        self._stop = threading.Event()
        self._response: httpx.Response | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def start(self) -> EventReader:
        """Returns once it is connected: what happens from now on is recorded."""
        self._thread.start()
        until(lambda: self.cursor is not None or self.ended.is_set(), "the stream of events begins")
        return self

    def stop(self) -> None:
        self._stop.set()
        self._thread.join(30)

    def kinds(self) -> list[str]:
        return [event["kind"] for event in self.events]

    def wait_for(self, kinds: Iterable[str], what: str) -> None:
        """Until there are events of these kinds, each as often as it is named."""
        wanted = list(kinds)
        until(lambda: all(self.kinds().count(kind) >= wanted.count(kind) for kind in wanted), what)

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._read()
            except httpx.TransportError:
                self._stop.wait(0.05)
            if not self._again:
                break
        self.ended.set()

    def _read(self) -> None:
        headers = {**self._headers, **({"Last-Event-ID": self.cursor} if self.cursor else {})}
        with (
            plain_client(timeout=httpx.Timeout(5, read=20)) as client,
            client.stream("GET", self._address, headers=headers) as response,
        ):
            self.statuses.append(response.status_code)
            if response.status_code != 200:
                self._stop.wait(0.2)
                return
            frame: dict[str, str] = {}
            for line in response.iter_lines():
                if self._stop.is_set():
                    return
                if line:
                    name, _, value = line.partition(":")
                    frame[name] = value.removeprefix(" ")
                    continue
                self._take(frame)
                frame = {}

    def _take(self, frame: dict[str, str]) -> None:
        """A frame counts once it is whole."""
        if frame.get("event") == "reset":
            self.resets += 1
        elif "data" in frame:
            event = json.loads(frame["data"])
            assert (str(event["id"]), event["kind"]) == (frame["id"], frame["event"])
            self.events.append(event)
        self.cursor = frame.get("id", self.cursor)
