"""The chat-completions protocol, read and written."""

import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.resources.chat_completions import PROTOCOL, message_of, reply_of
from adapters.outbound.resources.chat_model import EventStream, ToolCall, tokens, within_budget
from adapters.outbound.resources.exchanges import ServerError
from adapters.outbound.resources.messages import BadAnswer
from domain.routing.model import Usage
from ports.resources import Role, Turn


def user(text: str) -> Turn:
    return Turn(Role.USER, text)


def said(text: str) -> Turn:
    return Turn(Role.ASSISTANT, text)


CALL = ToolCall("call_7", "ring", '{"times": 12}')


class TestBudget:
    def test_the_latest_turns_are_kept(self) -> None:
        turns = [user("a" * 30), said("b" * 30), user("c" * 30), said("d" * 30)]

        assert within_budget(turns, 1000) == turns
        assert within_budget(turns, 2 * tokens("a" * 30)) == turns[2:]

    def test_what_is_kept_begins_with_what_a_user_said(self) -> None:
        turns = [user("a" * 30), CALL.turn(), CALL.result("done"), said("b"), user("c"), said("d")]

        kept = within_budget(turns, sum(tokens(turn.text) for turn in turns) - 1)

        assert kept == turns[4:]

    def test_nothing_is_kept_of_nothing_or_for_no_budget(self) -> None:
        assert list(within_budget([], 100)) == []
        assert list(within_budget([user("a")], 0)) == []

    @given(
        st.lists(st.builds(Turn, st.sampled_from([Role.USER, Role.ASSISTANT]), st.text())),
        st.integers(0, 200),
    )
    def test_the_budget_is_never_overrun(self, turns: list[Turn], budget: int) -> None:
        kept = within_budget(turns, budget)

        assert sum(tokens(turn.text) for turn in kept) <= budget
        assert not kept or kept[0].role is Role.USER
        assert list(kept) == turns[len(turns) - len(kept) :]


class TestMessages:
    def test_turns_become_messages(self) -> None:
        assert message_of(user("a")) == {"role": "user", "content": "a"}
        assert message_of(said("b")) == {"role": "assistant", "content": "b"}
        assert message_of(CALL.turn()) == {
            "role": "assistant",
            "content": None,
            "tool_calls": [
                {
                    "id": "call_7",
                    "type": "function",
                    "function": {"name": "ring", "arguments": '{"times": 12}'},
                }
            ],
        }
        assert message_of(CALL.result("done")) == {
            "role": "tool",
            "tool_call_id": "call_7",
            "content": "done",
        }

    def test_a_call_is_read_back_from_its_turn(self) -> None:
        assert ToolCall.of(CALL.turn()) == CALL

    @pytest.mark.parametrize(
        ("arguments", "parameters"),
        [("", {}), ('{"a": 1}', {"a": 1}), ("[1]", None), ("{", None), ("7", None), ("[" * 100_000, None)],
    )
    def test_arguments_are_an_object_or_nothing(
        self, arguments: str, parameters: dict[str, Any] | None
    ) -> None:
        assert ToolCall("1", "t", arguments).parameters() == parameters


class TestAnswers:
    def test_a_whole_answer_is_read(self) -> None:
        answer = {
            "choices": [
                {
                    "message": {
                        "content": "Wait.",
                        "tool_calls": [
                            {"id": "call_7", "function": {"name": "ring", "arguments": '{"times": 12}'}}
                        ],
                    }
                }
            ]
        }

        reply = reply_of(answer)

        assert reply.text == "Wait."
        assert reply.calls == [CALL]

    @pytest.mark.parametrize(
        ("content", "text"),
        [(None, ""), ("a", "a"), ([{"type": "text", "text": "a"}, {"type": "text", "text": "b"}, 7], "ab")],
    )
    def test_content_may_have_several_forms(self, content: Any, text: str) -> None:
        assert reply_of({"choices": [{"message": {"content": content}}]}).text == text

    def test_arguments_may_be_an_object(self) -> None:
        call = {"function": {"name": "ring", "arguments": {"times": 12}}}

        assert reply_of({"choices": [{"message": {"tool_calls": [call]}}]}).calls[0].parameters() == {
            "times": 12
        }

    @pytest.mark.parametrize(
        "answer",
        [
            None,
            [],
            {},
            {"choices": []},
            {"choices": [7]},
            {"choices": [{}]},
            {"choices": [{"message": "a"}]},
            {"choices": [{"message": {"content": 7}}]},
            {"choices": [{"message": {"tool_calls": [7]}}]},
            {"choices": [{"message": {"tool_calls": 7}}]},
            {"choices": [{"message": {"tool_calls": {"function": {"name": "ring"}}}}]},
            {"choices": [{"message": {"tool_calls": [{"function": {"name": ""}}]}}]},
        ],
    )
    def test_a_malformed_answer_is_refused(self, answer: Any) -> None:
        with pytest.raises(BadAnswer):
            reply_of(answer)

    def test_an_error_inside_an_answer_is_raised(self) -> None:
        with pytest.raises(ServerError) as caught:
            reply_of({"error": {"message": "overloaded"}})

        assert caught.value.error == {"message": "overloaded"}

    @pytest.mark.parametrize(
        ("usage", "read"),
        [
            ({"prompt_tokens": 12, "completion_tokens": 0, "total_tokens": 12}, Usage(12, 0)),
            ({"prompt_tokens": 12}, None),
            ({"prompt_tokens": -1, "completion_tokens": 5}, None),
            ({"prompt_tokens": True, "completion_tokens": 5}, None),
            ({"prompt_tokens": 10**30, "completion_tokens": 5}, None),
            ("12", None),
            (None, None),
        ],
    )
    def test_usage_that_cannot_be_read_does_no_harm(self, usage: Any, read: Usage | None) -> None:
        reply = reply_of({"choices": [{"message": {"content": "a"}}], "usage": usage})

        assert (reply.text, reply.usage) == ("a", read)

    def test_a_refusal_is_a_text(self) -> None:
        assert reply_of({"choices": [{"message": {"content": None, "refusal": "No."}}]}).text == "No."


def event(**delta: Any) -> bytes:
    return b"data: " + json.dumps({"choices": [{"delta": delta}]}).encode() + b"\n\n"


STREAM = (
    b": a comment\n\n"
    + event(role="assistant")
    + event(content="Grü")
    + b"event: ping\r\ndata:"
    + json.dumps({"choices": [{"delta": {"content": "ße 🙂"}}]}, ensure_ascii=False).encode()
    + b"\r\n\r\n"
    + event(tool_calls=[{"index": 0, "id": "call_7", "function": {"name": "ring", "arguments": '{"ti'}}])
    + event(tool_calls=[{"index": 0, "function": {"arguments": 'mes": 12}'}}])
    + b'data: {"choices": [], "usage": {"prompt_tokens": 9, "completion_tokens": 4}}\n\n'
    + b"data: [DONE]\n\n"
)


class TestEventStream:
    @given(st.lists(st.integers(0, len(STREAM)), max_size=12))
    def test_a_stream_is_read_however_it_is_cut(self, cuts: list[int]) -> None:
        stream = EventStream(PROTOCOL)
        edges = [0, *sorted(cuts), len(STREAM)]

        texts = [text for at, end in pairwise(edges) for text in stream.feed(STREAM[at:end])]
        reply = stream.close()

        assert texts == ["Grü", "ße 🙂"]
        assert reply.text == "Grüße 🙂"
        assert reply.calls == [CALL]
        assert reply.ended
        assert reply.usage == Usage(9, 4)

    def test_an_error_inside_a_stream_is_raised(self) -> None:
        with pytest.raises(ServerError):
            list(EventStream(PROTOCOL).feed(b'data: {"error": {"message": "overloaded"}}\n\n'))

    def test_a_stream_that_breaks_off_has_not_ended(self) -> None:
        stream = EventStream(PROTOCOL)
        list(stream.feed(event(content="half")))

        assert not stream.close().ended

    @pytest.mark.parametrize("answer", ["", "<html>", '{"choices": [{"mess'])
    def test_what_is_neither_a_stream_nor_an_answer_has_not_ended(self, answer: str) -> None:
        stream = EventStream(PROTOCOL)
        list(stream.feed(answer.encode()))

        assert not stream.close().ended

    @pytest.mark.parametrize("index", [{}, {"index": None}, {"index": 0}], ids=["none", "null", "always 0"])
    def test_calls_that_the_server_does_not_count_are_kept_apart(self, index: dict[str, Any]) -> None:
        def piece(arguments: Any, **call: Any) -> dict[str, Any]:
            name = {"name": call.pop("name")} if "name" in call else {}
            return {**index, **call, "function": {**name, "arguments": arguments}}

        stream = EventStream(PROTOCOL)
        list(
            stream.feed(
                event(tool_calls=[piece({"n": 1}, id="a", name="ring"), piece("", id="b", name="mail")])
            )
        )
        list(stream.feed(event(tool_calls=[piece('{"to"')])))
        list(stream.feed(event(tool_calls=[piece(': "ann"}', id="b")])))
        assert stream.close().calls == [
            ToolCall("a", "ring", '{"n": 1}'),
            ToolCall("b", "mail", '{"to": "ann"}'),
        ]

    def test_calls_in_pieces_by_turns_are_kept_apart(self) -> None:
        stream = EventStream(PROTOCOL)
        for number in (0, 1):
            function = {"name": f"tool{number}", "arguments": ""}
            list(
                stream.feed(event(tool_calls=[{"index": number, "id": f"id{number}", "function": function}]))
            )
        for number in (1, 0):
            list(stream.feed(event(tool_calls=[{"index": number, "function": {"arguments": f"{number}"}}])))
        assert stream.close().calls == [ToolCall("id0", "tool0", "0"), ToolCall("id1", "tool1", "1")]

    def test_too_many_calls_are_refused(self) -> None:
        call = {"index": 0, "function": {"name": "ring", "arguments": ""}}
        pieces = event(tool_calls=[{**call, "id": str(number)} for number in range(65)])
        with pytest.raises(BadAnswer, match="over 64 tool calls"):
            list(EventStream(PROTOCOL).feed(pieces))

    @pytest.mark.parametrize("reason", ["length", "content_filter"])
    def test_a_reply_that_ended_before_any_text_is_a_failure(self, reason: str) -> None:
        choice = {"delta": {}, "message": {"content": None}, "finish_reason": reason}
        body = json.dumps({"choices": [choice]}).encode()
        stream = EventStream(PROTOCOL)
        list(stream.feed(b"data: " + body + b"\n\n"))
        with pytest.raises(ServerError) as streamed:
            stream.close()
        with pytest.raises(ServerError) as whole:
            reply_of(json.loads(body))
        assert streamed.value.error == whole.value.error
        assert reason in str(whole.value.error)

    def test_a_text_that_was_cut_counts(self) -> None:
        choice = {"message": {"content": "It is"}, "finish_reason": "length"}
        assert reply_of({"choices": [choice]}).text == "It is"

    def test_a_finish_reason_ends_it_too(self) -> None:
        stream = EventStream(PROTOCOL)
        list(stream.feed(b'data: {"choices": [{"delta": {}, "finish_reason": "stop"}]}\n\n'))

        assert stream.close().ended

    @pytest.mark.parametrize(
        "data",
        [
            b"data: {\n\n",
            b"data: 7\n\n",
            b"data: " + b"[" * 100_000 + b"\n\n",
            b'data: {"choices": [7]}\n\n',
            b'data: {"choices": [{"delta": 7}]}\n\n',
            b'data: {"choices": [{"delta": {"content": 7}}]}\n\n',
            event(tool_calls=[7]),
            event(tool_calls=7),
            event(tool_calls=[{"index": 99, "function": {}}]),
            event(tool_calls=[{"index": "0", "function": {}}]),
            event(tool_calls=[{"index": 0, "function": {"name": "a", "arguments": "x" * 100_001}}]),
            b"data: " + b"x" * 4_000_001,
        ],
    )
    def test_a_malformed_stream_is_refused(self, data: bytes) -> None:
        with pytest.raises(BadAnswer):
            list(EventStream(PROTOCOL).feed(data))

    def test_a_call_without_a_name_is_refused(self) -> None:
        stream = EventStream(PROTOCOL)
        list(stream.feed(event(tool_calls=[{"index": 0, "function": {"arguments": "{}"}}])))

        with pytest.raises(BadAnswer, match="no name"):
            stream.close()
