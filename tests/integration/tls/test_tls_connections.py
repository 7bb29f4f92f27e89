"""What a gateway, a rule of resources and `switchboard doctor` say of a gRPC server that TLS keeps them from."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from grpc import aio
from grpc_health.v1 import health_pb2_grpc
from grpc_health.v1._async import HealthServicer
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from switchboard.downstream.v1 import runner_pb2 as pb
from switchboard.downstream.v1.runner_pb2_grpc import (
    ResourceRunnerServicer,
    add_ResourceRunnerServicer_to_server,
)

from adapters.outbound.core_client.connection import CoreConnection
from adapters.outbound.net.tls import ClientTls, PemSetting, TlsFiles, WatchedFiles, probe, server_credentials
from adapters.outbound.resources.grpc_runner import GrpcChannels, GrpcRunner
from domain.routing.model import RunResult
from ports.resources import DownstreamFailed
from tests.support.certificates import LOOPBACK, Issued, new_authority
from tests.support.ports import free_port
from tests.support.runs import a_request

AUTHORITY = new_authority()
OTHERS = new_authority("others")
GOOD = AUTHORITY.issue(*LOOPBACK)


class Echo(ResourceRunnerServicer):
    async def Run(self, request: pb.RunRequest, context: Any) -> AsyncIterator[pb.RunResponse]:  # noqa: N802
        yield pb.RunResponse(text_delta=request.text)


def watched(folder: Path, own: Issued | None, authorities: bytes | None) -> WatchedFiles:
    folder.mkdir(exist_ok=True)
    paths = (own or GOOD).write(folder, authorities or AUTHORITY.pem)
    names = ("certificate", "key") if own else ()
    files = {name: PemSetting(name, paths[name]) for name in (*names, *(["ca"] if authorities else []))}
    return WatchedFiles(TlsFiles(**files), lambda: datetime.now(UTC))


@asynccontextmanager
async def serving(files: WatchedFiles | None) -> AsyncIterator[int]:
    """A server that says how it is, and runs resources; its port."""
    server = aio.server()
    health = HealthServicer()
    await health.set("", HealthCheckResponse.SERVING)
    health_pb2_grpc.add_HealthServicer_to_server(health, server)
    add_ResourceRunnerServicer_to_server(Echo(), server)
    port = (
        server.add_secure_port("127.0.0.1:0", server_credentials(files))
        if files
        else server.add_insecure_port("127.0.0.1:0")
    )
    await server.start()
    try:
        yield port
    finally:
        await server.stop(None)


def served(folder: Path, own: Issued, authorities: bytes | None = None) -> WatchedFiles:
    """Of a server, without a look at its time."""
    files = watched(folder, GOOD, authorities)
    files.contents = type(files.contents)(own.pem, own.key_pem, authorities)
    return files


Case = tuple[Callable[[Path], WatchedFiles | None], Callable[[Path], WatchedFiles | None], str]
CASES: dict[str, Case] = {
    "both plain": (lambda _: None, lambda _: None, ""),
    "TLS": (lambda f: served(f, GOOD), lambda f: watched(f, None, AUTHORITY.pem), ""),
    "mutual TLS": (
        lambda f: served(f, GOOD, AUTHORITY.pem),
        lambda f: watched(f, AUTHORITY.issue("gateway"), AUTHORITY.pem),
        "",
    ),
    "plain client": (lambda f: served(f, GOOD), lambda _: None, "it speaks TLS alone: set CORE_TLS=on"),
    "plain server": (
        lambda _: None,
        lambda f: watched(f, None, AUTHORITY.pem),
        "it speaks no TLS: set GRPC_TLS_CERT_FILE",
    ),
    "another CA": (
        lambda f: served(f, GOOD),
        lambda f: watched(f, None, OTHERS.pem),
        "its certificate is of no CA that ca lists",
    ),
    "another name": (
        lambda f: served(f, AUTHORITY.issue("core.internal")),
        lambda f: watched(f, None, AUTHORITY.pem),
        "its certificate does not name '127.0.0.1': make one that does, or set CORE_TLS_SERVER_NAME",
    ),
    "expired": (
        lambda f: served(f, AUTHORITY.issue(*LOOPBACK, begins=-5, ends=-1)),
        lambda f: watched(f, None, AUTHORITY.pem),
        "its certificate expired",
    ),
    "no client certificate": (
        lambda f: served(f, GOOD, AUTHORITY.pem),
        lambda f: watched(f, None, AUTHORITY.pem),
        "it asks for a client certificate: set CORE_TLS_CERT_FILE",
    ),
    "client certificate of another CA": (
        lambda f: served(f, GOOD, AUTHORITY.pem),
        lambda f: watched(f, OTHERS.issue("gateway"), AUTHORITY.pem),
        "it does not take the certificate of CORE_TLS_CERT_FILE",
    ),
}


@pytest.mark.parametrize("case", CASES)
async def test_what_keeps_a_connection_from_working_is_named(tmp_path: Path, case: str) -> None:
    server, client, fault = CASES[case]
    async with serving(server(tmp_path / "server")) as port:
        result = await probe("127.0.0.1", port, client(tmp_path / "client"))
    assert result.fault.startswith(fault)
    assert bool(result.fault) == bool(fault)
    assert (result.valid_until == GOOD.certificate.not_valid_after_utc) == (
        case in ("TLS", "mutual TLS")
    ) or fault


async def test_a_core_that_is_not_there_is_told_so() -> None:
    assert "cannot be reached" in (await probe("127.0.0.1", free_port(), None)).fault
    assert "name cannot be resolved" in (await probe("nowhere.invalid", 1, None)).fault


async def test_a_gateway_connects_anew_with_new_certificates(tmp_path: Path) -> None:
    """Also where the target is an address, and the certificate has a name."""
    server = watched(tmp_path / "server", AUTHORITY.issue("core.internal"), AUTHORITY.pem)
    client = watched(tmp_path / "client", AUTHORITY.issue("gateway"), AUTHORITY.pem)
    async with serving(server) as port:
        core = CoreConnection(f"127.0.0.1:{port}", ClientTls(client, "core.internal"))
        check = health_pb2_grpc.HealthStub(core.channel).Check
        assert (await check(HealthCheckRequest(), timeout=60)).status == HealthCheckResponse.SERVING
        former = core.cores.endpoints[0]
        watching = health_pb2_grpc.HealthStub(former.channel(of_streams=True)).Watch(HealthCheckRequest())
        assert (await anext(aiter(watching))).status == HealthCheckResponse.SERVING

        OTHERS.issue("core.internal").write(tmp_path / "server", OTHERS.pem)
        OTHERS.issue("gateway").write(tmp_path / "client", OTHERS.pem)
        assert server.look()
        await core.cores.refresh()
        assert core.cores.endpoints[0] is not former
        assert (await check(HealthCheckRequest(), timeout=60)).status == HealthCheckResponse.SERVING
        assert not watching.done(), "calls under way go on"
        await core.close()


async def test_rules_of_resources_name_their_own_keys(tmp_path: Path) -> None:
    channels = GrpcChannels()
    outcomes = {}
    for case in ("another CA", "another name", "expired", "plain server"):
        server, client, _ = CASES[case]
        files = client(tmp_path / f"client of {case}")
        assert files is not None
        async with serving(server(tmp_path / f"server of {case}")) as port:
            runner = GrpcRunner(channels, f"127.0.0.1:{port}", tls=ClientTls(files))
            with pytest.raises(DownstreamFailed) as failed:
                await runner.run(a_request())
        outcomes[case] = str(failed.value)
    assert "no CA of ca_file" in outcomes["another CA"]
    assert "set server_name" in outcomes["another name"]
    assert "expired" in outcomes["expired"]
    assert "speaks no TLS" in outcomes["plain server"]
    await channels.close()


async def test_a_rule_follows_its_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("adapters.outbound.net.tls.LOOK_EVERY", 0.0)
    channels = GrpcChannels()
    server = served(tmp_path / "server", GOOD, AUTHORITY.pem)
    client = watched(tmp_path / "client", AUTHORITY.issue("runner"), AUTHORITY.pem)
    async with serving(server) as port:
        runner = GrpcRunner(channels, f"127.0.0.1:{port}", tls=ClientTls(client))
        assert await runner.run(a_request(text="one")) == RunResult("one")
        OTHERS.issue(*LOOPBACK).write(tmp_path / "server", OTHERS.pem)
        OTHERS.issue("runner").write(tmp_path / "client", OTHERS.pem)
        server.look()
        assert await runner.run(a_request(text="two")) == RunResult("two")
    assert client.contents.ca == OTHERS.pem
    await asyncio.wait_for(channels.close(), 60)
