"""Counts and durations as Prometheus reads them."""

import pytest
from prometheus_client import CollectorRegistry, Histogram, generate_latest

from adapters.outbound.system.metrics import SECONDS, Counts, Durations


def test_counts_are_kept_apart_by_their_labels() -> None:
    registry = CollectorRegistry()
    counts = Counts(registry, "things", "Things", "channel", "status")
    counts.add("a", 200)
    counts.add("a", 200, count=2)
    counts.add("b", 200)
    found = {
        channel: registry.get_sample_value("switchboard_things_total", {"channel": channel, "status": "200"})
        for channel in "abc"
    }
    assert found == {"a": 3, "b": 1, "c": None}


@pytest.mark.parametrize("seconds", [0.0, *SECONDS, 0.3, 121.0])
def test_durations_fall_into_the_buckets_of_the_client_library(seconds: float) -> None:
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    durations = Durations(ours, "wait", "Waits", "channel")
    histogram = Histogram("switchboard_wait_seconds", "Waits", ["channel"], buckets=SECONDS, registry=theirs)
    for each in (seconds, 0.02):
        durations.add(each, "a")
        histogram.labels("a").observe(each)
    expected = [line for line in generate_latest(theirs).splitlines() if b"_created" not in line]
    assert generate_latest(ours).splitlines() == expected
