"""The Responses protocol, read and written."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.resources.chat_model import EventStream, ModelInput, ToolCall
from adapters.outbound.resources.exchanges import ServerError
from adapters.outbound.resources.messages import BadAnswer
from adapters.outbound.resources.model_settings import ChatModel
from adapters.outbound.resources.responses import PROTOCOL, item_of, reply_of, request_body
from domain.routing.model import Usage
from ports.resources import Role, Turn
from tests.support.hostile import JSON, places, replaced

CALL = ToolCall("call_7", "ring", '{"times": 12}')
MESSAGE = {"type": "message", "content": [{"type": "output_text", "text": "Wait."}]}
FUNCTION = {"type": "function_call", "call_id": "call_7", "name": "ring", "arguments": '{"times": 12}'}
RESPONSE = {
    "status": "completed",
    "error": None,
    "output": [{"type": "reasoning", "summary": []}, MESSAGE, FUNCTION],
    "usage": {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13},
}


def event(kind: str, **fields: Any) -> bytes:
    data = json.dumps({"type": kind, **fields}, ensure_ascii=False)
    return f"event: {kind}\ndata: {data}\n\n".encode()


def added(at: int, item: dict[str, Any]) -> bytes:
    return event("response.output_item.added", output_index=at, item=item)


def delta(text: Any, at: int = 1) -> bytes:
    return event("response.output_text.delta", output_index=at, content_index=0, delta=text)


def arguments(text: str) -> bytes:
    return event("response.function_call_arguments.delta", output_index=3, delta=text)


STREAM = (
    event("response.created", response={"status": "in_progress", "output": []})
    + added(0, {"type": "reasoning", "summary": []})
    + event("response.reasoning_summary_text.delta", output_index=0, delta="I think")
    + added(1, {"type": "message", "content": []})
    + delta("Grü")
    + delta("ße 🙂")
    + added(2, {"type": "message", "content": []})
    + delta("Wait.", at=2)
    + added(3, {**FUNCTION, "arguments": ""})
    + arguments('{"ti')
    + arguments('mes": 12}')
    + event("response.output_item.done", output_index=3, item=FUNCTION)
    + event("response.completed", response=RESPONSE)
)


class TestRequests:
    def test_turns_become_items(self) -> None:
        assert item_of(Turn(Role.USER, "a")) == {"role": "user", "content": "a"}
        assert item_of(Turn(Role.ASSISTANT, "b")) == {"role": "assistant", "content": "b"}
        assert item_of(CALL.turn()) == FUNCTION
        assert item_of(CALL.result("done")) == {
            "type": "function_call_output",
            "call_id": "call_7",
            "output": "done",
        }

    def test_nothing_is_stored_at_the_server(self) -> None:
        body = request_body(ChatModel("http://x/v1", "small"), ModelInput([Turn(Role.USER, "a")]))

        assert body == {"model": "small", "input": [{"role": "user", "content": "a"}], "store": False}


class TestResponses:
    def test_a_whole_response_is_read(self) -> None:
        reply = reply_of(RESPONSE)

        assert (reply.text, reply.calls, reply.ended) == ("Wait.", [CALL], True)
        assert reply.usage == Usage(9, 4)

    def test_messages_are_parted_by_an_empty_line(self) -> None:
        assert reply_of({"output": [MESSAGE, MESSAGE]}).text == "Wait.\n\nWait."

    def test_a_refusal_is_a_text(self) -> None:
        refusing = {"type": "message", "content": [{"type": "refusal", "refusal": "No."}]}

        assert reply_of({"output": [refusing]}).text == "No."

    def test_what_was_cut_counts_as_far_as_it_goes(self) -> None:
        cut = {**FUNCTION, "arguments": '{"ti', "status": "incomplete"}
        reply = reply_of({**RESPONSE, "status": "incomplete", "output": [MESSAGE, cut]})

        assert (reply.text, reply.calls) == ("Wait.", [])

    def test_what_was_cut_before_any_text_is_a_failure(self) -> None:
        response = {"status": "incomplete", "incomplete_details": {"reason": "content_filter"}, "output": []}
        with pytest.raises(ServerError) as caught:
            reply_of(response)

        assert caught.value.error["code"] == "content_filter"

    @pytest.mark.parametrize("status", ["failed", "cancelled"])
    def test_a_failure_is_raised(self, status: str) -> None:
        with pytest.raises(ServerError):
            reply_of({**RESPONSE, "status": status, "error": {"code": "server_error", "message": "Sorry."}})
        with pytest.raises(ServerError):
            reply_of({**RESPONSE, "status": status})

    @pytest.mark.parametrize(
        "answer",
        [
            None,
            [],
            {},
            {"output": 7},
            {"output": [7]},
            {"output": [{"type": "message", "content": 7}]},
            {"output": [{"type": "message", "content": [7]}]},
            {"output": [{"type": "function_call", "arguments": "{}"}]},
            {"output": [{**FUNCTION, "arguments": "x" * 100_001}]},
            {"output": [FUNCTION] * 65},
        ],
    )
    def test_a_malformed_response_is_refused(self, answer: Any) -> None:
        with pytest.raises(BadAnswer):
            reply_of(answer)

    @given(st.sampled_from(places(RESPONSE)), JSON)
    def test_any_value_in_any_place_is_read_or_refused(self, place: tuple[Any, ...], value: Any) -> None:
        try:
            reply_of(replaced(RESPONSE, place, value))
        except (BadAnswer, ServerError):
            return


class TestEventStream:
    @given(st.lists(st.integers(0, len(STREAM)), max_size=12))
    def test_a_stream_is_read_however_it_is_cut(self, cuts: list[int]) -> None:
        stream = EventStream(PROTOCOL)
        edges = [0, *sorted(cuts), len(STREAM)]

        texts = [text for at, end in pairwise(edges) for text in stream.feed(STREAM[at:end])]
        reply = stream.close()

        assert texts == ["Grü", "ße 🙂", "\n\nWait."]
        assert reply.text == "Grüße 🙂\n\nWait."
        assert (reply.calls, reply.ended, reply.usage) == ([CALL], True, Usage(9, 4))

    def test_a_server_may_give_arguments_at_once(self) -> None:
        stream = EventStream(PROTOCOL)
        done = event("response.function_call_arguments.done", output_index=3, arguments='{"times": 12}')
        end = event("response.completed", response={"status": "completed"})
        list(stream.feed(added(3, {**FUNCTION, "arguments": ""}) + arguments('{"ti') + done + end))

        assert stream.close().calls == [CALL]

    def test_a_server_may_tell_all_at_the_end(self) -> None:
        stream = EventStream(PROTOCOL)
        list(stream.feed(event("response.completed", response=RESPONSE)))

        assert stream.close() == reply_of(RESPONSE)

    def test_a_stream_that_breaks_off_has_not_ended(self) -> None:
        stream = EventStream(PROTOCOL)
        list(stream.feed(delta("half")))

        assert not stream.close().ended

    @pytest.mark.parametrize(
        "events",
        [
            event("response.failed", response={"status": "failed", "error": {"code": "server_error"}}),
            event("error", code="server_error", message="Sorry."),
            event("error", error={"code": "server_error", "message": "Sorry."}),
            b'data: {"error": {"code": "server_error"}}\n\n',
        ],
    )
    def test_a_failure_is_raised(self, events: bytes) -> None:
        with pytest.raises(ServerError) as caught:
            list(EventStream(PROTOCOL).feed(delta("half") + events))

        assert caught.value.error["code"] == "server_error"

    def test_a_text_that_was_cut_counts(self) -> None:
        stream = EventStream(PROTOCOL)
        incomplete = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
        list(stream.feed(delta("half") + event("response.incomplete", response=incomplete)))

        assert (stream.close().text, stream.close().ended) == ("half", True)

    def test_a_response_that_was_cut_before_any_text_is_a_failure(self) -> None:
        stream = EventStream(PROTOCOL)
        incomplete = {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}
        list(stream.feed(event("response.incomplete", response=incomplete)))

        with pytest.raises(ServerError):
            stream.close()

    @pytest.mark.parametrize(
        "data",
        [
            b"data: {\n\n",
            b"data: 7\n\n",
            b"data: " + b"[" * 100_000 + b"\n\n",
            b"data: \xff\n\n",
            delta(7),
            event("response.output_text.delta", output_index="0", delta="a"),
            event("response.output_item.added", output_index=0, item=7),
            event("response.completed", response=7),
            arguments("{}"),
            added(3, FUNCTION) + arguments("x" * 100_001),
            b"".join(added(at, FUNCTION) for at in range(65)),
            b"data: " + b"x" * 4_000_001,
        ],
    )
    def test_a_malformed_stream_is_refused(self, data: bytes) -> None:
        with pytest.raises(BadAnswer):
            list(EventStream(PROTOCOL).feed(data))
