"""An upgrade from the released version under load, process by process, and the way back, lose and double nothing."""

from collections import Counter
from contextlib import ExitStack
from pathlib import Path

import httpx
import psycopg
import pytest

from adapters.outbound.storage.migrate import head
from tests.e2e.fleet import SENDERS, Fleet, FleetLoad, answers_of
from tests.support.receiver import Receiver
from tests.support.released import revision, unpacked
from tests.support.service import ROOT, STOPPED_S, Service
from tests.support.waiting import until

pytestmark = pytest.mark.processes

STEP = 20
"""Messages that are acknowledged between two steps."""


class Upgrade:
    """The steps of docs/upgrading.md, and the load meanwhile."""

    def __init__(self, fleet: Fleet, old: Path, receiver: Receiver) -> None:
        self.fleet = fleet
        self.old = old
        self.receiver = receiver
        self.load: FleetLoad

    def start_old(self) -> None:
        fleet, old = self.fleet, self.old
        self.cores = [fleet.core(0, old), fleet.core(1, old)]
        self.worker = fleet.worker(old)
        self.gateways = [fleet.gateway(0, old), fleet.gateway(1, old)]
        for service in (*self.cores, self.worker, *self.gateways):
            service.await_ready()

    def connect(self, key: str) -> None:
        created = httpx.post(
            f"{self.fleet.gateways[0]}/api/agent/channel-instances",
            headers={"Authorization": f"Bearer {key}"},
            json={
                "channelId": "http-webhook",
                "channelName": "load",
                "downStreamResourceId": "agent::echo",
                "config": {"responseWebhookUrl": self.receiver.url},
            },
            trust_env=False,
            timeout=60,
        )
        assert created.status_code == 201, created.text
        self.load = FleetLoad(self.fleet.gateways, created.json()["instanceId"])

    def progress(self, what: str) -> None:
        """Messages are taken and answered after this step too, by gateways that are ready."""
        goal = len(self.load.acknowledged) + STEP
        until(lambda: len(self.load.acknowledged) >= goal, f"messages are taken after: {what}")
        last = self.load.acknowledged[-1]
        until(
            lambda: last in [body["response"] for body in list(self.receiver.bodies)],
            f"an answer after: {what}",
        )
        for gateway in self.fleet.gateways:
            until(lambda at=gateway: ready(at), f"{gateway} is ready after: {what}")

    def replace(self, place: int) -> None:
        """The core and the gateway of a place, by those of this version, which others of the old one work beside."""
        stopped(self.cores[place])
        self.progress("a core stopped")
        stopped(self.gateways[place])
        self.cores[place], self.gateways[place] = self.fleet.core(place), self.fleet.gateway(place)
        self.cores[place].await_ready()
        self.gateways[place].await_ready()
        self.progress("a core and a gateway replaced")

    def replace_worker(self, root: Path = ROOT) -> None:
        former, self.worker = self.worker, self.fleet.worker(root)
        self.worker.await_ready()
        stopped(former)
        self.progress("the worker replaced")

    def go_back(self) -> None:
        """A core and the worker of the old version start on the new schema, and work alone."""
        stopped(self.cores[0])
        self.cores[0] = self.fleet.core(0, self.old)
        self.replace_worker(self.old)
        self.cores[0].await_ready()
        stopped(self.cores[1])
        self.progress("the way back")


def ready(gateway: str) -> bool:
    answer = httpx.get(f"{gateway}/readyz", trust_env=False, timeout=20)
    return answer.status_code == 200 and answer.json()["checks"]["migrations"] == "ok"


def stopped(service: Service) -> None:
    assert service.stop() < STOPPED_S
    assert service.process.returncode == 0, service.output
    assert "Traceback" not in service.output


def check(load: FleetLoad, receiver: Receiver) -> None:
    """Each message that was taken is answered once, each conversation in order."""
    expected = set(load.acknowledged)
    until(
        lambda: expected <= {body["response"] for body in list(receiver.bodies)},
        "all are answered",
        seconds=120,
    )
    counts = Counter(body["response"] for body in receiver.bodies)
    assert {text: count for text, count in counts.items() if count > 1} == {}
    for sender in range(SENDERS):
        numbers = [int(text.split()[1]) for text in answers_of(receiver, sender)]
        assert numbers == sorted(numbers), f"s{sender} is answered in order"
    print(
        f"{len(expected)} acknowledged and answered once; {len(load.refused)} were told to come again, {load.broken}"
        " connections were refused or ended"
    )


def test_an_upgrade_and_the_way_back_under_load_lose_and_double_nothing(
    open_folder: Path, external_settings: dict[str, str], tmp_path: Path
) -> None:
    old = unpacked(tmp_path / "released")
    with (
        ExitStack() as stack,
        Receiver() as receiver,
        psycopg.connect(external_settings["DATABASE_URL"]) as database,
    ):
        fleet = Fleet(stack, open_folder, external_settings)
        upgrade = Upgrade(fleet, old, receiver)
        upgrade.start_old()
        at = "SELECT version_num FROM alembic_version"
        assert database.execute(at).fetchall() == [(revision(),)]
        database.commit()
        upgrade.connect(fleet.run("keys", "create", "--user", "ann", root=old))
        with upgrade.load.running():
            upgrade.progress("the old version alone")
            assert fleet.run("migrate") == f"the database is at {head()}"
            upgrade.progress("the new schema under the old version")
            upgrade.replace(0)
            upgrade.replace_worker()
            upgrade.replace(1)
            refused = list(upgrade.load.refused)
            upgrade.go_back()
        assert {text[:3] for text in refused} <= {"503"}, (
            "gateways of 0.1.0 refuse what was at a core that stopped"
        )
        assert upgrade.load.refused[len(refused) :] == [], "those of this version ask the other core"
        check(upgrade.load, receiver)
