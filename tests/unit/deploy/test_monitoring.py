"""Dashboard, alerts and chart ask for metrics and labels that the code has, and the pages say what to do."""

import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, cast
from unittest.mock import AsyncMock, Mock

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

from adapters.outbound.net.tls import WatchedFiles
from adapters.outbound.storage.database_metrics import OLDEST, QUEUES, UPLOADS, DatabaseMetrics
from adapters.outbound.storage.figures import SQL
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.retention import Retention
from adapters.outbound.system.metrics import CertificateMetrics, PrometheusMeter
from domain.refusals import Unavailable

DEPLOY = Path(__file__).parents[3] / "deploy"
DOCS = Path(__file__).parents[3] / "docs"
BOARD: dict[str, Any] = json.loads((DEPLOY / "grafana" / "switchboard.json").read_text())
RULES = DEPLOY / "prometheus" / "rules.yaml"
ALERTS: list[dict[str, Any]] = yaml.safe_load(RULES.read_text())["groups"][0]["rules"]
OF_TARGETS = {"job", "instance", "namespace"}
"""Labels that Prometheus puts on all metrics of a target."""
NOW = datetime.now(UTC).replace(second=0, microsecond=0)


class FakeDatabase:
    """Answers the statements of the metrics."""

    def __init__(self, *, away: bool = False) -> None:
        self._away = away

    async def fetch(self, query: str, _: Any = ()) -> list[tuple[Any, ...]]:
        if self._away:
            raise Unavailable("the database is away")
        known = {QUEUES: [(0, 3, 2)], OLDEST: [(1.5, None, 4, 0, 1, 0)], UPLOADS: [(1, 0, 9.0, 5_000_000)]}
        return known.get(query, [(NOW, 5, 10)])

    async def fetch_value(self, query: str) -> datetime:
        assert query == SQL["figures_until"]
        return NOW


async def scraped(database: FakeDatabase) -> dict[str, set[str]]:
    """The labels of each sample, after each metric was used once."""
    meter = PrometheusMeter()
    meter.received("c", "k")
    meter.refused("c", "r")
    meter.accepted("c", True)
    meter.accepted("c", False)
    meter.processed("c", "o", 1.0)
    meter.downstream("k", "o", 1.0)
    meter.throttled("c", "r")
    meter.delivered("c", "o", 1.0)
    meter.exchanged("h", "o", 1.0)
    meter.answered("c", 200, 1.0)
    files = Mock(WatchedFiles, valid_until={"GRPC_TLS_CERT_FILE": NOW}, fault="")
    CertificateMetrics(files, dict, meter.registry)
    retention = Mock(Retention, overdue=AsyncMock(return_value={"events": 0.0}))
    metrics = DatabaseMetrics(meter, cast(Database, database), retention)
    text = (await metrics.exposition()).decode()
    samples = [sample for family in text_string_to_metric_families(text) for sample in family.samples]
    return {sample.name: set(sample.labels) for sample in samples} | {"up": set()}


def queries() -> Iterator[tuple[str, str]]:
    """Each query with the place where it stands."""
    for panel in BOARD["panels"]:
        for target in panel.get("targets", []):
            yield panel["title"], target["expr"]
    for variable in BOARD["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["name"], variable["query"]["query"]
    for alert in ALERTS:
        yield alert["alert"], alert["expr"]
    scaling = (DEPLOY / "helm" / "switchboard" / "templates" / "scaling.yaml").read_text()
    yield "scaling.yaml", re.findall(r"query: (.*)", scaling)[0]


def wrong(query: str, known: dict[str, set[str]]) -> Iterable[str]:
    """Metrics that are not there, and labels that theirs have not."""
    metrics = re.findall(r"\b((?:switchboard_\w+)|(?:process_\w+)|up)\b\s*(?:\{([^}]*)\})?", query)
    labels = {label for name, _ in metrics for label in known.get(name, ())} | OF_TARGETS
    yield from (name for name, _ in metrics if name not in known)
    for name, matchers in metrics:
        asked = re.findall(r"(\w+)\s*(?:=~|!=|!~|=)", matchers)
        yield from (f"{name}: {label}" for label in asked if label not in known.get(name, set()) | OF_TARGETS)
    for group in re.findall(r"by \(([^)]*)\)", query):
        yield from (label for label in re.findall(r"\w+", group) if label not in labels)


async def test_each_metric_and_label_that_is_asked_for_exists() -> None:
    known = await scraped(FakeDatabase())
    asked = list(queries())
    assert len(asked) > 50
    assert {where: list(wrong(query, known)) for where, query in asked if list(wrong(query, known))} == {}


async def test_a_wrong_name_would_be_seen() -> None:
    known = await scraped(FakeDatabase())
    assert list(wrong("sum by (user) (switchboard_wait_second{chanel='x'})", known))
    assert list(wrong('max(switchboard_queue_oldest_seconds{kind="inbound"})', known)) == [
        "switchboard_queue_oldest_seconds: kind"
    ]


async def test_nothing_old_is_told_of_a_database_that_is_away() -> None:
    known = await scraped(FakeDatabase(away=True))
    assert "switchboard_database_up" in known
    assert not {"switchboard_queue_depth", "switchboard_dead_letters", "switchboard_uploads"} & set(known)


def test_panels_are_whole_and_beside_each_other() -> None:
    panels = BOARD["panels"]
    assert len({panel["id"] for panel in panels}) == len(panels)
    taken: set[tuple[int, int]] = set()
    for panel in panels:
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken, panel["title"]
        assert at["x"] + at["w"] <= 24
        taken |= cells
        for target in panel.get("targets", []):
            assert target["datasource"] == {"type": "prometheus", "uid": "${datasource}"}


def test_each_variable_of_the_dashboard_is_defined() -> None:
    defined = {variable["name"] for variable in BOARD["templating"]["list"]} | {"__rate_interval"}
    assert set(re.findall(r"\$\{?(\w+)", json.dumps(BOARD))) - {"__all"} == defined


def test_each_alert_says_what_it_means_and_what_to_do() -> None:
    page = (DOCS / "monitoring.md").read_text()
    headings = {heading.lower() for heading in re.findall(r"^### (\w+)$", page, re.M)}
    for alert in ALERTS:
        assert alert["labels"]["severity"] in ("critical", "warning")
        assert set(alert["annotations"]) == {"summary", "description", "runbook"}
        assert alert["annotations"]["runbook"] == f"docs/monitoring.md#{alert['alert'].lower()}"
    assert headings == {alert["alert"].lower() for alert in ALERTS}


@pytest.mark.skipif(not shutil.which("promtool"), reason="promtool is not installed (Debian: prometheus)")
@pytest.mark.parametrize(
    "arguments", [["check", "rules", "rules.yaml"], ["test", "rules", "rules.test.yaml"]]
)
def test_promtool_agrees(arguments: list[str]) -> None:
    done = subprocess.run(
        ["promtool", *arguments], cwd=RULES.parent, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
