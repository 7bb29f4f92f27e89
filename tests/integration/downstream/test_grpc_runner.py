"""Resources behind gRPC, against a real server on the loopback interface."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Any

import grpc
import pytest
from grpc import aio
from switchboard.downstream.v1 import runner_pb2 as pb
from switchboard.downstream.v1.runner_pb2_grpc import (
    ResourceRunnerServicer,
    add_ResourceRunnerServicer_to_server,
)

from adapters.outbound.resources.grpc_runner import GrpcChannels, GrpcRunner
from domain.channels.answers import Choice
from domain.channels.model import Proof
from domain.routing.model import Approval, Confirmation, ResultArtifact, RunResult, RunSender, Usage
from ports.resources import DownstreamFailed
from tests.support.ports import free_port
from tests.support.runs import A_FILE, a_request

Run = Callable[[pb.RunRequest, Any], AsyncGenerator[pb.RunResponse, None]]


@asynccontextmanager
async def running(run: Run) -> AsyncIterator[str]:
    """A server whose `Run` is `run`; gives its target."""

    class Servicer(ResourceRunnerServicer):
        async def Run(  # noqa: N802
            self, request: pb.RunRequest, context: Any
        ) -> AsyncIterator[pb.RunResponse]:
            async with aclosing(run(request, context)) as messages:
                async for message in messages:
                    yield message

    server = aio.server(options=[("grpc.so_reuseport", 0), ("grpc.max_send_message_length", -1)])
    add_ResourceRunnerServicer_to_server(Servicer(), server)
    port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield f"127.0.0.1:{port}"
    finally:
        await server.stop(None)


@pytest.fixture
async def channels() -> AsyncIterator[GrpcChannels]:
    channels = GrpcChannels()
    yield channels
    await channels.close()


def saying(*messages: pb.RunResponse) -> Run:
    async def run(_request: pb.RunRequest, _context: Any) -> AsyncGenerator[pb.RunResponse, None]:
        for message in messages:
            yield message

    return run


async def test_the_message_goes_out_whole(channels: GrpcChannels) -> None:
    seen: list[tuple[pb.RunRequest, dict[str, Any], float]] = []

    async def run(request: pb.RunRequest, context: Any) -> AsyncGenerator[pb.RunResponse, None]:
        seen.append((request, dict(context.invocation_metadata()), context.time_remaining()))
        yield pb.RunResponse(text_delta="ok")

    request = a_request(
        sender=RunSender("4711", "Ada", "user-9", Proof.PLATFORM),
        files=(A_FILE,),
        approval=Approval("c1", "ring", "approved"),
        approved_tools=("search",),
    )
    async with running(run) as target:
        await GrpcRunner(channels, target, token="s3cret").run(request)
        await GrpcRunner(channels, target).run(a_request("workflow::w"))

    message, metadata, remaining = seen[0]
    assert message.resource == pb.Resource(kind="agent", id="helper", expert_index=1)
    assert (message.request_id, message.instance_id) == (request.request_id, 7)
    assert (message.channel_id, message.session_id) == ("bot-messenger", "4711")
    assert message.sender == pb.Sender(
        external_id="4711", display_name="Ada", user_id="user-9", verified_by="platform"
    )
    assert message.text == "How late is it?"
    assert message.files[0] == pb.InputFile(name="a.png", mime_type="image/png", size=3, url=A_FILE.url)
    assert message.approval == pb.Approval(confirmation_id="c1", tool="ring", decision="approved")
    assert list(message.approved_tools) == ["search"]
    assert metadata["authorization"] == "Bearer s3cret"
    assert remaining == pytest.approx(request.timeout, abs=30), (
        "gRPC rounds what goes out, and the way takes time"
    )
    assert "owner-1" not in str(message)

    plain, metadata, _ = seen[1]
    assert not plain.resource.HasField("expert_index")
    assert not plain.HasField("approval")
    assert not plain.sender.HasField("user_id")
    assert not plain.sender.HasField("verified_by")
    assert "authorization" not in metadata


async def test_the_answer_is_heard_of_as_it_is_made(channels: GrpcChannels) -> None:
    heard: list[str] = []
    messages = [pb.RunResponse(text_delta=each) for each in ("It ", "is ", "", "noon.")]
    async with running(saying(*messages)) as target:
        await GrpcRunner(channels, target).run(a_request(progress=lambda text: heard.append(text())))
    assert heard == ["It ", "It is ", "It is noon."]


async def test_deltas_are_joined(channels: GrpcChannels) -> None:
    messages = [
        pb.RunResponse(text_delta="It is "),
        pb.RunResponse(artifacts=[pb.Artifact(name="a.txt", mime_type="text/plain", data=b"hi")]),
        pb.RunResponse(
            text_delta="noon.", artifacts=[pb.Artifact(name="b", mime_type="", url="https://x.example/b")]
        ),
        pb.RunResponse(confirmation=pb.Confirmation(tool="ring", parameters_json='{"times": 12}')),
    ]
    async with running(saying(*messages)) as target:
        result = await GrpcRunner(channels, target).run(a_request())

    assert result == RunResult(
        "It is noon.",
        (
            ResultArtifact("a.txt", "text/plain", data=b"hi"),
            ResultArtifact("b", "application/octet-stream", url="https://x.example/b"),
        ),
        Confirmation("ring", {"times": 12}),
    )


async def test_pieces_come_as_they_are_made(channels: GrpcChannels) -> None:
    go_on = asyncio.Event()

    async def run(_request: pb.RunRequest, _context: Any) -> AsyncGenerator[pb.RunResponse, None]:
        yield pb.RunResponse(text_delta="first")
        await go_on.wait()
        yield pb.RunResponse(text_delta="second")

    async with running(run) as target:
        stream = GrpcRunner(channels, target).stream(a_request())
        assert (await anext(stream)).text == "first"
        go_on.set()
        assert [delta.text async for delta in stream] == ["second"]


async def test_one_connection_serves_all_calls(channels: GrpcChannels) -> None:
    peers: set[str] = set()

    async def run(_request: pb.RunRequest, context: Any) -> AsyncIterator[pb.RunResponse]:
        peers.add(context.peer())
        yield pb.RunResponse(text_delta="ok")

    async with running(run) as target:
        await asyncio.gather(*(GrpcRunner(channels, target).run(a_request()) for _ in range(10)))

    assert len(peers) == 1


async def test_an_empty_stream_is_an_empty_answer(channels: GrpcChannels) -> None:
    async with running(saying()) as target:
        assert await GrpcRunner(channels, target).run(a_request()) == RunResult("")


@pytest.mark.parametrize(
    ("message", "what"),
    [
        (pb.RunResponse(artifacts=[pb.Artifact(name="a")]), "either url or"),
        (pb.RunResponse(artifacts=[pb.Artifact(name="", data=b"a")]), "name"),
        (pb.RunResponse(artifacts=[pb.Artifact(name="a", url="file:///etc/passwd")]), "url"),
        (pb.RunResponse(artifacts=[pb.Artifact(name="a", data=b"a")] * 21), "over 20"),
        (pb.RunResponse(confirmation=pb.Confirmation(tool="")), "tool"),
        (pb.RunResponse(confirmation=pb.Confirmation(tool="t", parameters_json="{")), "not JSON"),
        (
            pb.RunResponse(confirmation=pb.Confirmation(tool="t", parameters_json='{"a":' + "[" * 100_000)),
            "not JSON",
        ),
        (pb.RunResponse(confirmation=pb.Confirmation(tool="t", parameters_json="[1]")), "not an object"),
        (pb.RunResponse(confirmation=pb.Confirmation(tool="t", parameters_json="null")), "not an object"),
        (pb.RunResponse(text_delta="x" * 1_000_001), "over 1000000 characters"),
    ],
)
async def test_an_unusable_answer_is_a_failure_for_good(
    channels: GrpcChannels, message: pb.RunResponse, what: str
) -> None:
    async with running(saying(message)) as target:
        with pytest.raises(DownstreamFailed, match=what) as caught:
            await GrpcRunner(channels, target).run(a_request())

    assert not caught.value.retryable


async def test_an_endless_answer_is_cut_off(channels: GrpcChannels) -> None:
    ended = asyncio.Event()

    async def run(_request: pb.RunRequest, _context: Any) -> AsyncGenerator[pb.RunResponse, None]:
        try:
            while True:
                yield pb.RunResponse(text_delta="x" * 100_000)
        finally:
            ended.set()

    async with running(run) as target:
        with pytest.raises(DownstreamFailed, match="over 1000000 characters"):
            await GrpcRunner(channels, target).run(a_request())
        await asyncio.wait_for(ended.wait(), 30)


@pytest.mark.parametrize(
    ("code", "retryable"),
    [
        (grpc.StatusCode.UNAVAILABLE, True),
        (grpc.StatusCode.RESOURCE_EXHAUSTED, True),
        (grpc.StatusCode.INTERNAL, True),
        (grpc.StatusCode.INVALID_ARGUMENT, False),
        (grpc.StatusCode.UNAUTHENTICATED, False),
        (grpc.StatusCode.UNIMPLEMENTED, False),
    ],
)
async def test_a_status_decides_whether_another_try_helps(
    channels: GrpcChannels, code: grpc.StatusCode, retryable: bool
) -> None:
    async def run(_request: pb.RunRequest, context: Any) -> AsyncIterator[pb.RunResponse]:
        yield pb.RunResponse(text_delta="half")
        await context.abort(code, "secret of the resource", (("retry-after", "9"),))

    async with running(run) as target:
        with pytest.raises(DownstreamFailed, match=code.name) as caught:
            await GrpcRunner(channels, target).run(a_request())

    assert caught.value.retryable is retryable
    assert caught.value.begun, "it had said something"
    assert caught.value.retry_after == 9.0
    assert "secret" not in str(caught.value)


async def test_a_dead_target_is_worth_another_try(channels: GrpcChannels) -> None:
    with pytest.raises(DownstreamFailed, match="UNAVAILABLE") as caught:
        await GrpcRunner(channels, f"127.0.0.1:{free_port()}").run(a_request())

    assert caught.value.retryable
    assert not caught.value.begun


@pytest.mark.parametrize(
    ("code", "begun"),
    [
        (grpc.StatusCode.RESOURCE_EXHAUSTED, False),
        (grpc.StatusCode.INVALID_ARGUMENT, False),
        (grpc.StatusCode.INTERNAL, True),
        (grpc.StatusCode.UNKNOWN, True),
    ],
)
async def test_a_status_tells_whether_the_resource_worked_on_it(
    channels: GrpcChannels, code: grpc.StatusCode, begun: bool
) -> None:
    async def run(_request: pb.RunRequest, context: Any) -> AsyncIterator[pb.RunResponse]:
        await context.abort(code, "no")
        yield pb.RunResponse()

    async with running(run) as target:
        with pytest.raises(DownstreamFailed) as caught:
            await GrpcRunner(channels, target).run(a_request())

    assert caught.value.begun is begun


async def test_a_resource_that_dies_over_a_request_may_have_worked_on_it(channels: GrpcChannels) -> None:
    began = asyncio.Event()

    async def run(_request: pb.RunRequest, _context: Any) -> AsyncGenerator[pb.RunResponse, None]:
        began.set()
        await asyncio.Event().wait()
        yield pb.RunResponse()

    async with running(run) as target:
        task = asyncio.create_task(GrpcRunner(channels, target).run(a_request()))
        await asyncio.wait_for(began.wait(), 30)
    with pytest.raises(DownstreamFailed) as caught:
        await task

    assert caught.value.begun


async def test_a_slow_resource_is_given_up(channels: GrpcChannels) -> None:
    async def run(_request: pb.RunRequest, _context: Any) -> AsyncGenerator[pb.RunResponse, None]:
        yield pb.RunResponse(text_delta="half")
        await asyncio.Event().wait()

    async with running(run) as target:
        with pytest.raises(DownstreamFailed, match="within its time") as caught:
            await GrpcRunner(channels, target).run(a_request(timeout=0.3))

    assert not caught.value.retryable


async def test_a_run_that_is_cancelled_ends_at_the_resource(channels: GrpcChannels) -> None:
    began, ended = asyncio.Event(), asyncio.Event()

    async def run(_request: pb.RunRequest, _context: Any) -> AsyncGenerator[pb.RunResponse, None]:
        began.set()
        try:
            await asyncio.Event().wait()
            yield pb.RunResponse()
        finally:
            ended.set()

    async with running(run) as target:
        task = asyncio.create_task(GrpcRunner(channels, target).run(a_request()))
        await asyncio.wait_for(began.wait(), 30)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await asyncio.wait_for(ended.wait(), 30)


async def test_the_last_choices_of_the_stream_count(channels: GrpcChannels) -> None:
    first = pb.RunResponse(text_delta="Which?", choices=[pb.Choice(label="Old")])
    last = pb.RunResponse(choices=[pb.Choice(label="Small", value="s"), pb.Choice(label="Large")])
    async with running(saying(first, last, pb.RunResponse(text_delta=" One?"))) as target:
        result = await GrpcRunner(channels, target).run(a_request())
    assert result == RunResult("Which? One?", choices=(Choice("Small", "s"), Choice("Large", "")))


async def test_choices_over_the_limits_are_refused(channels: GrpcChannels) -> None:
    answer = pb.RunResponse(choices=[pb.Choice(label="a"), pb.Choice(label="a")])
    async with running(saying(answer)) as target:
        with pytest.raises(DownstreamFailed, match=r"choices\[1\]\.label must not be the label of another"):
            await GrpcRunner(channels, target).run(a_request())


async def test_a_choice_is_handed_on(channels: GrpcChannels) -> None:
    heard: list[bool] = []

    async def run(request: pb.RunRequest, _context: Any) -> AsyncGenerator[pb.RunResponse, None]:
        heard.append(request.choice)
        yield pb.RunResponse(text_delta="ok")

    async with running(run) as target:
        await GrpcRunner(channels, target).run(a_request(choice=True))
        await GrpcRunner(channels, target).run(a_request())
    assert heard == [True, False]


async def test_a_resource_may_ask_for_a_person(channels: GrpcChannels) -> None:
    answer = saying(
        pb.RunResponse(text_delta="A colleague ", handover=True), pb.RunResponse(text_delta="comes.")
    )
    async with running(answer) as target:
        result = await GrpcRunner(channels, target).run(a_request())
    assert result == RunResult("A colleague comes.", wants_person=True)


async def test_tokens_of_all_pieces_are_added_up(channels: GrpcChannels) -> None:
    usage = pb.Usage(input_tokens=9, output_tokens=4)
    answer = saying(pb.RunResponse(text_delta="It is ", usage=usage), pb.RunResponse(usage=usage))
    async with running(answer) as target:
        result = await GrpcRunner(channels, target).run(a_request())
    assert result == RunResult("It is ", usage=Usage(18, 8))


async def test_tokens_that_are_no_number_of_tokens_do_no_harm(channels: GrpcChannels) -> None:
    usage = pb.Usage(input_tokens=-1, output_tokens=4)
    async with running(saying(pb.RunResponse(text_delta="ok", usage=usage))) as target:
        result = await GrpcRunner(channels, target).run(a_request())
    assert result == RunResult("ok")


async def test_a_token_that_the_server_repeats_is_hidden(channels: GrpcChannels) -> None:
    async def run(_: pb.RunRequest, context: Any) -> AsyncGenerator[pb.RunResponse, None]:
        told = dict(context.invocation_metadata())["authorization"]
        yield pb.RunResponse(text_delta=f"You asked with {told}.", choices=[pb.Choice(label=told)])

    async with running(run) as target:
        result = await GrpcRunner(channels, target, token="s3cret-token").run(a_request())

    assert result.text == "You asked with Bearer ************."
    assert result.choices == (Choice("Bearer ************", ""),)
