"""No change without its entry in the audit log, and no entry without its change, whatever is killed whenever."""

import itertools
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support.plain_http import plain_client
from tests.support.service import Service, run_once
from tests.support.waiting import until

pytestmark = pytest.mark.processes

WRITERS = 3
ENOUGH = 25
"""Changes that a round wants answered before the kill."""
ROUNDS = 3


class Changes:
    """Threads that make, share and delete teams and instances; `answered` counts what was carried out."""

    def __init__(self, service: Service) -> None:
        self._service = service
        self._numbers = itertools.count()
        self._stop = threading.Event()
        self.answered = 0

    def _work(self) -> None:
        headers = {"Authorization": f"Bearer {self._service.key}"}
        with plain_client(self._service.base, headers=headers) as client:
            while not self._stop.is_set():
                try:
                    self._round(client)
                except httpx.TransportError:
                    self._stop.wait(0.02)

    def _round(self, client: httpx.Client) -> None:
        number = next(self._numbers)
        team = client.post("/api/agent/teams", json={"name": f"team {number}"})
        body = {"channelId": "http-webhook", "channelName": f"n{number}", "config": {}}
        instance = client.post("/api/agent/channel-instances", json=body)
        self.answered += (team.status_code == 201) + (instance.status_code == 201)
        if number % 2 or team.status_code != 201 or instance.status_code != 201:
            return
        client.delete(f"/api/agent/teams/{team.json()['id']}")
        client.delete(f"/api/agent/channel-instances/{instance.json()['instanceId']}")

    @contextmanager
    def going_on(self) -> Iterator[None]:
        threads = [threading.Thread(target=self._work) for _ in range(WRITERS)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            self._stop.set()
            for thread in threads:
                thread.join()


def test_changes_and_entries_agree_after_kills(open_folder: Path) -> None:
    with Service(open_folder / "data") as service:
        changes = Changes(service)
        with changes.going_on():
            for number in range(ROUNDS):
                if number:
                    service.start()
                goal = changes.answered + ENOUGH
                until(lambda goal=goal: changes.answered >= goal, "enough changes", seconds=120)
                service.kill_everything(database_first=bool(number % 2))
        service.start()
        with service.client() as client:
            listed = _all(client, "/api/agent/teams", "teams")
            teams = {f"team:{team['id']}" for team in listed}
            instances = {
                f"instance:{instance['id']}"
                for instance in client.get("/api/agent/channel-instances?scope=all").json()
            }
            assert _standing(client, "team") == teams
            assert _standing(client, "instance") == instances
        service.stop()
        checked = run_once(service.data_dir, "audit", "verify", settings=service.settings)
        assert checked.returncode == 0, checked.stdout + checked.stderr
        assert "none changed or removed" in checked.stdout
        last = checked.stdout.splitlines()[-1]
        expected = run_once(service.data_dir, "audit", "verify", "--expect", last, settings=service.settings)
        assert expected.returncode == 0, expected.stdout + expected.stderr
        wrong = f"{last.partition(':')[0]}:{'0' * 64}"
        refused = run_once(service.data_dir, "audit", "verify", "--expect", wrong, settings=service.settings)
        assert refused.returncode != 0
        assert "is another one" in refused.stdout + refused.stderr


def _standing(client: httpx.Client, kind: str) -> set[str]:
    """The objects that were made and not deleted, as the log tells it. Raises for two entries of one change."""
    entries = _all(client, f"/api/agent/audit?action={kind}", "entries")
    made = [entry["object"] for entry in entries if entry["action"] == f"{kind}.created"]
    gone = [entry["object"] for entry in entries if entry["action"] == f"{kind}.deleted"]
    assert len(made) == len(set(made))
    assert len(gone) == len(set(gone))
    assert set(gone) <= set(made)
    return set(made) - set(gone)


def _all(client: httpx.Client, path: str, field: str) -> list[dict[str, Any]]:
    entries: list[dict[str, Any]] = []
    cursor: object = ""
    while cursor is not None:
        sign = "&" if "?" in path else "?"
        page = client.get(f"{path}{sign}limit=200&cursor={cursor}").json()
        entries += page[field]
        cursor = page["next"]
    return entries
