"""The event loops of tests drop what gRPC says too late, and nothing else."""

from typing import Any

import pytest

from tests.support.loops import Loop


class News:
    """A callback that belongs to a module."""

    def __init__(self, module: str) -> None:
        self.__module__ = module

    def __call__(self) -> None:
        raise AssertionError


@pytest.fixture
def ended() -> Loop:
    loop = Loop()
    loop.close()
    return loop


def test_news_of_grpc_for_a_loop_that_ended_is_dropped(ended: Loop) -> None:
    assert ended.call_soon_threadsafe(News("grpc._cython.cygrpc")) is None


def test_anything_else_for_a_loop_that_ended_is_a_fault(ended: Loop) -> None:
    with pytest.raises(RuntimeError, match="closed"):
        ended.call_soon_threadsafe(News("adapters.inbound.grpc"))


def test_only_the_emptied_queue_of_grpc_is_overlooked(ended: Loop) -> None:
    told: list[str] = []
    ended.set_exception_handler(lambda _, context: told.append(context["message"]))
    again = BlockingIOError()
    contexts: list[dict[str, Any]] = [
        {"message": "Exception in callback PollerCompletionQueue._handle_events()", "exception": again},
        {"message": "Exception in callback ours()", "exception": again},
        {"message": "Exception in PollerCompletionQueue", "exception": ValueError()},
    ]
    for context in contexts:
        ended.call_exception_handler(context)
    assert told == ["Exception in callback ours()", "Exception in PollerCompletionQueue"]
