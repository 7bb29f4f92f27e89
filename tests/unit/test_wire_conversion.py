"""Values of the domain come back from their messages as they were."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from switchboard.channels.v1 import instances_pb2
from switchboard.knowledge.v1 import knowledge_pb2

from adapters.wire import instances, knowledge
from adapters.wire.conversion import Conversion
from domain.instances.model import (
    Activity,
    ActivityHealth,
    Delivery,
    Health,
    Instance,
    InstanceChange,
    InstanceView,
    NewInstance,
    Pairing,
    SaveResult,
)
from domain.knowledge.model import (
    Base,
    BaseChange,
    Chunk,
    FileRecord,
    FileStatus,
    Level,
    SearchResult,
    UploadedFile,
)
from domain.knowledge.search.options import Mode, SearchOptions
from domain.refusals import Invalid

AT = datetime(2026, 3, 1, 9, 30, 0, 123456, tzinfo=UTC)


@pytest.mark.parametrize(
    ("conversion", "value"),
    [
        (instances.NEW, NewInstance("cron", "n", {"a": 993.0, "b": [1]}, None, 7)),
        (instances.CHANGE, InstanceChange({"a": 1}, "agent::echo", None)),
        (instances.SAVED, SaveResult(1, "created", "m", True, None, "refused")),
        (instances.PAIRING, Pairing(False, None, "m")),
        (instances.DELIVERY, Delivery(1, "dead", 2, None, AT, None)),
        (knowledge.BASE, Base(1, "a", "b", "ann", AT, AT, Level.READ)),
        (knowledge.BASE, Base(1, "a", "b", "ann", AT, AT, None)),
        (knowledge.CHANGE, BaseChange(None, "")),
        (knowledge.UPLOADED, UploadedFile("h", "n", 1, "text/plain", FileStatus.READY)),
        (
            knowledge.FILE,
            FileRecord(1, 2, "n", "k", "h", 3, "m", "t", "ann", AT, AT, FileStatus.FAILED, 0.5, "e"),
        ),
        (knowledge.CHUNK, Chunk("i", "ann", "t", "f", None, AT)),
    ],
    ids=lambda given: type(given).__name__,
)
def test_a_value_comes_back(conversion: Conversion[Any, Any], value: object) -> None:
    assert conversion.from_pb(conversion.to_pb(value)) == value


def test_search_results_and_options_come_back() -> None:
    result = SearchResult("i", "t", "h", "{}", 0.5, "n", None, 0.5, [(0, 1), (3, 9)])
    assert knowledge.result_from_pb(knowledge.result_to_pb(result)) == result
    for options in (SearchOptions(), SearchOptions(50, 0.5, ("a" * 64,), 3, Mode.TEXT, True)):
        assert knowledge.options_from_pb(knowledge.options_to_pb(options)) == options
    with pytest.raises(Invalid, match="mode: must be one of hybrid, text, vector"):
        knowledge.options_from_pb(knowledge_pb2.SearchOptions(mode="semantic"))


def test_health_and_configurations_come_back() -> None:
    activities = {activity: ActivityHealth(AT, None, None, True) for activity in Activity}
    health = Health(1, False, ("w",), ("n",), AT, "e", AT, None, {"waiting": 1}, None, "open", AT, activities)
    assert instances.health_from_pb(instances.health_to_pb(health)) == health
    view = InstanceView(Instance(1, "ann", "cron", "n", {"a": 2**80}, None, AT, AT), "Cron")
    assert instances.view_from_pb(instances.view_to_pb(view)) == view


def test_json_that_is_none_is_refused_by_name() -> None:
    with pytest.raises(Invalid, match="config_json"):
        instances.NEW.from_pb(instances_pb2.CreateInstanceRequest(config_json="[]"))
