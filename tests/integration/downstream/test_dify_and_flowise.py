"""Resources on Dify and Flowise, against stand-ins on the loopback interface that answer as their pages describe."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from aiohttp import web

from adapters.outbound.net.addresses import AddressPolicy
from adapters.outbound.net.http import AioHttp
from adapters.outbound.resources.agent_http import UserAddresses
from adapters.outbound.resources.dify import DifyRunner, DifyTarget
from adapters.outbound.resources.flowise import FlowiseRunner, FlowiseTarget
from domain.routing.model import Resource, ResultArtifact, RunResult, Usage
from ports.resources import DownstreamFailed
from tests.support.runs import A_FILE, a_request
from tests.support.servers import serving

TASK, CONVERSATION = "900bbd43-dc0b-4383-a372-aa6e6c414227", "45701982-8118-4bc5-8e9b-64562b4555f2"


@pytest.fixture
async def http() -> AsyncIterator[AioHttp]:
    client = AioHttp(AddressPolicy("public-only"))
    yield client
    await client.close()


class States:
    """States of resources in memory."""

    def __init__(self) -> None:
        self.states: dict[tuple[int, str, Resource], Mapping[str, Any]] = {}

    async def load(self, instance_id: int, session_id: str, resource: Resource) -> Mapping[str, Any]:
        return self.states.get((instance_id, session_id, resource), {})

    async def save(
        self,
        instance_id: int,
        session_id: str,
        resource: Resource,
        state: Mapping[str, Any],
        inbox_id: int | None = None,
    ) -> None:
        self.states[instance_id, session_id, resource] = state


class Service:
    """Answers with what it was given, in turn: events, or a whole answer; remembers what it was asked."""

    def __init__(self, *answers: list[Any] | bytes | web.Response, hangs: bool = False) -> None:
        self.answers = list(answers)
        self.hangs = hangs
        self.asked: list[tuple[str, dict[str, Any], str | None]] = []
        self.stopped = asyncio.Event()

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.asked.append((request.path, await request.json(), request.headers.get("Authorization")))
        if request.path.endswith("/stop"):
            self.stopped.set()
            return web.json_response({"result": "success"})
        answer = self.answers.pop(0)
        if isinstance(answer, web.Response):
            return answer
        response = web.StreamResponse(headers={"Content-Type": "text/event-stream; charset=utf-8"})
        await response.prepare(request)
        if isinstance(answer, bytes):
            await response.write(answer)
            return response
        for event in answer:
            await response.write(b"message:\ndata: " + json.dumps(event).encode() + b"\n\n")
        if self.hangs:
            await asyncio.Event().wait()
        return response


def said(kind: str, **fields: Any) -> dict[str, Any]:
    return {"event": kind, "task_id": TASK, "conversation_id": CONVERSATION, **fields}


END = said("message_end", metadata={"usage": {"prompt_tokens": 9, "completion_tokens": 4}})


def dify(http: AioHttp, base: str, states: States | None = None, **target: Any) -> DifyRunner:
    return DifyRunner(http, states or States(), DifyTarget(f"{base}/v1", token="s3cret", **target))


class TestDify:
    async def test_a_message_is_answered(self, http: AioHttp) -> None:
        heard: list[str] = []
        service = Service(
            [said("ping"), said("message", answer="It is "), said("message", answer="noon."), END]
        )
        async with serving(service.handle) as base:
            runner = dify(http, base, inputs={"tier": "gold"})
            result = await runner.run(a_request(progress=lambda text: heard.append(text())))

        assert result == RunResult("It is noon.", usage=Usage(9, 4))
        assert heard == ["It is ", "It is noon."]
        assert service.asked == [
            (
                "/v1/chat-messages",
                {
                    "query": "How late is it?",
                    "inputs": {"tier": "gold"},
                    "response_mode": "streaming",
                    "conversation_id": "",
                    "user": "switchboard-7-4711",
                    "files": [],
                    "auto_generate_name": False,
                },
                "Bearer s3cret",
            )
        ]

    async def test_a_conversation_goes_on(self, http: AioHttp) -> None:
        states = States()
        service = Service([said("message", answer="a"), END], [said("message", answer="b"), END], [END])
        async with serving(service.handle) as base:
            runner = dify(http, base, states)
            for request_id, session in (("request-1", "4711"), ("request-2", "4711"), ("request-3", "other")):
                await runner.run(a_request(request_id=request_id, session_id=session))

        assert [body["conversation_id"] for _, body, _ in service.asked] == ["", CONVERSATION, ""]

    async def test_a_conversation_that_was_deleted_there_begins_anew(self, http: AioHttp) -> None:
        gone = web.json_response({"code": "not_found", "message": "Conversation Not Exists."}, status=404)
        states, service = States(), Service([END], gone, [said("message", answer="b"), END])
        async with serving(service.handle) as base:
            runner = dify(http, base, states)
            await runner.run(a_request(request_id="request-1"))
            result = await runner.run(a_request(request_id="request-2"))

        assert result.text == "b"
        assert [body["conversation_id"] for _, body, _ in service.asked] == ["", CONVERSATION, ""]

    async def test_files_go_along_where_the_app_takes_them(self, http: AioHttp) -> None:
        service = Service([END])
        async with serving(service.handle) as base:
            await dify(http, base, files=True).run(a_request(files=(A_FILE,)))

        assert service.asked[0][1]["files"] == [
            {"type": "image", "transfer_method": "remote_url", "url": A_FILE.url}
        ]

    async def test_files_of_the_app_and_replaced_texts(self, http: AioHttp) -> None:
        service = Service([
            said("agent_message", answer="Bad words"),
            said("message_file", type="image", belongs_to="assistant", url="/files/tools/a.png?sign=1"),
            said("message_file", type="image", belongs_to="user", url="/files/b.png"),
            said("message_replace", answer="Sorry."),
            END,
        ])  # fmt: skip
        async with serving(service.handle) as base:
            result = await dify(http, base).run(a_request())

        picture = ResultArtifact("a.png", "image/png", url=f"{base}/files/tools/a.png?sign=1")
        assert (result.text, result.artifacts) == ("Sorry.", (picture,))

    @pytest.mark.parametrize(
        ("error", "said_words", "retryable"),
        [
            ({"status": 400, "code": "provider_quota_exceeded", "message": "No quota."}, "No quota.", False),
            ({"status": 500, "code": "internal_server_error", "message": "key s3cret"}, "key ***", True),
        ],
    )
    async def test_an_error_is_told_in_its_words(
        self, http: AioHttp, error: dict[str, Any], said_words: str, retryable: bool
    ) -> None:
        refusal = web.json_response(error, status=error["status"])
        for answer in ([said("error", **error)], refusal):
            service = Service(answer)
            async with serving(service.handle) as base:
                with pytest.raises(DownstreamFailed, match=error["code"]) as caught:
                    await dify(http, base).run(a_request())
            assert str(caught.value).endswith(f"{error['code']}: {said_words}")
            assert caught.value.retryable is retryable

    async def test_an_answer_that_nobody_waits_for_is_stopped(self, http: AioHttp) -> None:
        heard = asyncio.Event()
        service = Service([said("message", answer="It is ")], hangs=True)
        async with serving(service.handle) as base:
            runner = dify(http, base)
            task = asyncio.create_task(runner.run(a_request(progress=lambda _: heard.set())))
            await asyncio.wait_for(heard.wait(), 30)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            await asyncio.wait_for(service.stopped.wait(), 30)

        path, body, _ = service.asked[-1]
        assert path == f"/v1/chat-messages/{TASK}/stop"
        assert body == {"user": "switchboard-7-4711"}

    async def test_a_workflow_that_waits_for_a_person_is_a_failure(self, http: AioHttp) -> None:
        service = Service([said("workflow_paused")])
        async with serving(service.handle) as base:
            with pytest.raises(DownstreamFailed, match="waits for the input of a person"):
                await dify(http, base).run(a_request())

    async def test_a_stream_that_breaks_off_is_worth_another_try(self, http: AioHttp) -> None:
        service = Service([said("message", answer="half")])
        async with serving(service.handle) as base:
            with pytest.raises(DownstreamFailed, match="broke off") as caught:
                await dify(http, base).run(a_request())
        assert caught.value.retryable

    @pytest.mark.parametrize(
        "answer",
        [
            b"data: {\n\n",
            b"data: 7\n\n",
            b"data: " + b"[" * 100_000 + b"\n\n",
            b"data: \xff\n\n",
            b'data: {"event": "message", "answer": 7}\n\n',
            b'data: {"event": "message_file", "belongs_to": "assistant", "url": "http://[x"}\n\n',
            b'data: {"event": "message_file", "belongs_to": "assistant", "url": "file:///etc/passwd"}\n\n',
            b'data: {"event": "message", "answer": "' + b"x" * 1_000_001 + b'"}\n\n',
            web.Response(body=b"<html>"),
        ],
    )
    async def test_rubbish_is_refused(self, http: AioHttp, answer: bytes | web.Response) -> None:
        service = Service(answer)
        async with serving(service.handle) as base:
            with pytest.raises(DownstreamFailed, match="unusable"):
                await dify(http, base).run(a_request())

    async def test_ids_that_are_none_are_left_alone(self, http: AioHttp) -> None:
        states = States()
        evil = [{**END, "conversation_id": "../../x", "task_id": "a/b"}]
        service = Service(evil)
        async with serving(service.handle) as base:
            await dify(http, base, states).run(a_request())
        assert states.states == {}

    async def test_addresses_of_users_obey_the_policy(self, http: AioHttp) -> None:
        service = Service([END])
        async with serving(service.handle) as base:
            runner = DifyRunner(UserAddresses(http), States(), DifyTarget(f"{base}/v1"))
            with pytest.raises(DownstreamFailed, match="address policy"):
                await runner.run(a_request())
        assert service.asked == []


def flowise(http: AioHttp, base: str) -> FlowiseRunner:
    return FlowiseRunner(http, FlowiseTarget(f"{base}/api/v1/prediction/1", "s3cret"))


def event(kind: str, data: Any = "") -> dict[str, Any]:
    return {"event": kind, "data": data}


class TestFlowise:
    async def test_a_message_is_answered(self, http: AioHttp) -> None:
        usage = {"input_tokens": 9, "output_tokens": 4, "total_tokens": 13}
        service = Service([
            event("start"), event("token", "It is "), event("token", "noon."), event("usageMetadata", usage),
            event("metadata", {"chatId": "x"}), event("end", "[DONE]"),
        ])  # fmt: skip
        async with serving(service.handle) as base:
            result = await flowise(http, base).run(a_request())

        assert result == RunResult("It is noon.", usage=Usage(9, 4))
        path, body, authorization = service.asked[0]
        assert (path, authorization) == ("/api/v1/prediction/1", "Bearer s3cret")
        assert (body["question"], body["streaming"]) == ("How late is it?", True)

    @pytest.mark.parametrize(
        ("answer", "text"), [({"text": "noon", "chatId": "x"}, "noon"), ({"json": {"a": 1}}, '{"a": 1}')]
    )
    async def test_a_flow_that_does_not_stream_is_understood(
        self, http: AioHttp, answer: dict[str, Any], text: str
    ) -> None:
        service = Service(web.json_response(answer))
        async with serving(service.handle) as base:
            assert (await flowise(http, base).run(a_request())).text == text

    async def test_each_session_is_a_chat(self, http: AioHttp) -> None:
        service = Service(*[[event("end")]] * 4)
        async with serving(service.handle) as base:
            for changes in ({}, {}, {"session_id": "other"}, {"instance_id": 8}):
                await flowise(http, base).run(a_request(**changes))

        first, again, *others = [body["chatId"] for _, body, _ in service.asked]
        assert first == again
        assert len({first, *others}) == 3

    async def test_an_error_is_told_in_its_words(self, http: AioHttp) -> None:
        for answer in (
            [event("error", "key s3cret is wrong")],
            web.json_response({"statusCode": 500, "message": "key s3cret is wrong"}, status=500),
        ):
            async with serving(Service(answer).handle) as base:
                with pytest.raises(DownstreamFailed, match=r"key \*\*\* is wrong"):
                    await flowise(http, base).run(a_request())

    async def test_a_stream_that_breaks_off_is_worth_another_try(self, http: AioHttp) -> None:
        async with serving(Service([event("token", "half")]).handle) as base:
            with pytest.raises(DownstreamFailed, match="broke off") as caught:
                await flowise(http, base).run(a_request())
        assert caught.value.retryable

    @pytest.mark.parametrize(
        "answer",
        [
            b"data: 7\n\n",
            b"data: {\n\n",
            b'data: {"event": "token", "data": 7}\n\n',
            web.Response(text="7", content_type="application/json"),
            web.Response(text="{}", content_type="application/json"),
            web.Response(text="<html>"),
        ],
    )
    async def test_rubbish_is_refused(self, http: AioHttp, answer: bytes | web.Response) -> None:
        async with serving(Service(answer).handle) as base:
            with pytest.raises(DownstreamFailed, match="unusable"):
                await flowise(http, base).run(a_request())

    async def test_addresses_of_users_obey_the_policy(self, http: AioHttp) -> None:
        service = Service([event("end")])
        async with serving(service.handle) as base:
            runner = FlowiseRunner(UserAddresses(http), FlowiseTarget(base))
            with pytest.raises(DownstreamFailed, match="address policy"):
                await runner.run(a_request())
        assert service.asked == []
