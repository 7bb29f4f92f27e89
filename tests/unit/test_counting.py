"""Counts and durations as Prometheus reads them."""

import pytest

from adapters.outbound.system.metrics import SECONDS, PrometheusMeter


def test_counts_are_kept_apart_by_their_labels() -> None:
    meter = PrometheusMeter()
    meter.removed("a", 1)
    meter.removed("a", 2)
    meter.removed("b", 1)
    found = {
        table: meter.registry.get_sample_value("switchboard_removed_rows_total", {"table": table})
        for table in "abc"
    }
    assert found == {"a": 3, "b": 1, "c": None}


@pytest.mark.parametrize("seconds", [0.0, *SECONDS, 0.3, 121.0])
def test_durations_fall_into_the_buckets_up_to_their_bound(seconds: float) -> None:
    meter = PrometheusMeter()
    for duration in (seconds, 0.02):
        meter.answered("a", 200, duration)
    labels = {"channel": "a", "status": "200"}
    for bound in SECONDS:
        bucket = meter.registry.get_sample_value(
            "switchboard_callback_seconds_bucket", {**labels, "le": str(float(bound))}
        )
        assert bucket == sum(duration <= bound for duration in (seconds, 0.02))
    assert meter.registry.get_sample_value("switchboard_callback_seconds_count", labels) == 2


def test_the_time_at_which_a_metric_was_made_is_no_metric() -> None:
    meter = PrometheusMeter()
    meter.removed("a", 1)
    meter.answered("a", 200, 0.1)
    assert b"_created" not in meter.exposition()
