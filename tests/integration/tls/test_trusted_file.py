"""SSL_CERT_FILE: what connects outwards trusts the CAs of that file, and only with it those of a private CA."""

import asyncio
import os
import ssl
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from aiohttp import web

from apps.setting_types import SettingsError
from apps.settings_loading import load
from tests.support.certificates import LOOPBACK, new_authority
from tests.support.s3 import BUCKET, KEY_ID, REGION, SECRET, FakeS3
from tests.support.servers import serving
from tests.support.service import ROOT

CALLS = """
import asyncio, sys
from pathlib import Path
from apps.settings_loading import load

settings = load(env_file=Path(sys.argv[1]))
base, *given = sys.argv[2:]

import aiohttp
from adapters.outbound.system.blobs import Bucket, S3Blobs
from adapters.outbound.mail.smtp import checked_tls
from adapters.outbound.system import tracing
from domain.refusals import Unavailable

async def stored():
    async def content():
        yield b"abc"
    await S3Blobs(Bucket(base, *given)).put(content(), 10)

async def read(tls):
    async with aiohttp.ClientSession() as session, session.get(base + "/probe", ssl=tls) as answer:
        answer.raise_for_status()

def traced():
    tracing.FLUSH_SECONDS = 60
    traces = tracing.Traces(base, authorities=settings.ssl_cert_file)
    with traces.span("one"):
        pass
    traces.close()

def tell(name, call):
    try:
        asyncio.run(call)
        print(name, "trusts")
    except (aiohttp.ClientConnectorCertificateError, Unavailable):
        print(name, "refuses")

tell("s3", stored())
tell("http", read(True))
tell("mail", read(checked_tls()))
if settings.ssl_cert_file:
    traced()
"""


OTHERS = """
import asyncio, sys
from contextlib import suppress
from pathlib import Path
from apps.settings_loading import load

settings = load(env_file=Path(sys.argv[1]))
imap, smtp, redis, resource, core = map(int, sys.argv[2:])

from grpc_health.v1.health_pb2 import HealthCheckRequest
from grpc_health.v1.health_pb2_grpc import HealthStub
from adapters.outbound.channels.email.channel import build
from adapters.outbound.channels.email.tests.conftest import NO_HTTP, settings as account
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import dependencies
from adapters.outbound.core_client.connection import CoreConnection
from adapters.outbound.resources.grpc_runner import GrpcChannels, GrpcRunner
from adapters.outbound.resources.rules import parse_rules
from adapters.outbound.jobs.arq_queue import connect
from adapters.outbound.mail.smtp import Security, SmtpServer, Submission
from apps.tls import tls_to_core
from tests.support.runs import a_request

async def call(calling):
    with suppress(Exception):
        await calling

async def main():
    kit = dependencies(NO_HTTP)
    channels, mail = GrpcChannels(), ChannelCalls(build(kit))
    fields = ['match = "agent::a"', 'kind = "grpc"', f'target = "127.0.0.1:{resource}"', "tls = true"]
    target = parse_rules("\\n".join(["[[rule]]", *fields]), settings.environment.get)[0].target
    cores = CoreConnection(f"127.0.0.1:{core}", tls_to_core(settings))
    await asyncio.gather(
        call(mail.probe(account(imapPort=imap, imapSecure=True))),
        call(Submission(kit.hosts).try_login(SmtpServer("127.0.0.1", smtp, Security.IMPLICIT))),
        call(connect(f"rediss://127.0.0.1:{redis}").ping()),
        call(GrpcRunner(channels, target.target, tls=target.tls.watched()).run(a_request())),
        call(HealthStub(cores.channel).Check(HealthCheckRequest(), timeout=10)),
    )
    await cores.close()

asyncio.run(main())
"""
KINDS = ("imap", "smtp", "redis", "resource", "core")


async def outcome(env_file: Path, base: str) -> list[str]:
    """What each client says of the server."""
    return (await program(CALLS, env_file, base, BUCKET, KEY_ID, SECRET, REGION)).splitlines()


async def program(code: str, env_file: Path, *arguments: str) -> str:
    """What a process writes that knows the file from `.env` alone."""
    kept = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", code, str(env_file), *arguments),
        env={**kept, "PYTHONPATH": f"{ROOT}:{ROOT / 'proto/gen'}"},
        stdout=asyncio.subprocess.PIPE,
        cwd=env_file.parent,
    )
    told, _ = await process.communicate()
    return told.decode()


async def test_every_client_trusts_the_file_and_nothing_else(tmp_path: Path) -> None:
    authority, other = new_authority(), new_authority("another CA")
    files = authority.issue(*LOOPBACK).write(tmp_path / "server", authority.pem)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(files["certificate"], files["key"])
    (tmp_path / "cas.pem").write_bytes(other.pem + authority.pem)
    (tmp_path / "empty.env").write_text("")
    (tmp_path / "given.env").write_text(f"SSL_CERT_FILE={tmp_path / 'cas.pem'}\n")
    store, paths = FakeS3(), []

    async def handle(request: web.Request) -> web.StreamResponse:
        paths.append(request.path)
        known = request.path in ("/probe", "/v1/traces")
        return web.Response() if known else await store.handle(request)

    async with serving(handle, tls=tls) as base:
        assert await outcome(tmp_path / "empty.env", base) == ["s3 refuses", "http refuses", "mail refuses"]
        assert paths == []
        assert await outcome(tmp_path / "given.env", base) == ["s3 trusts", "http trusts", "mail trusts"]
        assert "/v1/traces" in paths


async def test_clients_of_other_protocols_trust_it_too(tmp_path: Path) -> None:
    """A client that trusts the server completes the handshake; the server then hangs up."""
    authority = new_authority()
    files = authority.issue(*LOOPBACK).write(tmp_path / "server", authority.pem)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(files["certificate"], files["key"])
    tls.set_alpn_protocols(["h2"])
    (tmp_path / "empty.env").write_text("CORE_TLS=on\n")
    (tmp_path / "given.env").write_text(f"CORE_TLS=on\nSSL_CERT_FILE={files['ca']}\n")
    trusting: set[str] = set()

    def taker(kind: str) -> Callable[[asyncio.StreamReader, asyncio.StreamWriter], None]:
        def take(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            trusting.add(kind)
            writer.close()

        return take

    async with AsyncExitStack() as stack:
        ports = []
        for kind in KINDS:
            server = await asyncio.start_server(taker(kind), "127.0.0.1", 0, ssl=tls)
            ports.append(str((await stack.enter_async_context(server)).sockets[0].getsockname()[1]))
        await program(OTHERS, tmp_path / "empty.env", *ports)
        assert trusting == set()
        await program(OTHERS, tmp_path / "given.env", *ports)
        assert trusting == set(KINDS)


@pytest.mark.parametrize(
    ("content", "fault"),
    [(None, "cannot be read"), (b"", "holds no certificate"), (b"x", "holds no certificate")],
)
def test_a_file_that_is_no_use_is_refused_at_start(tmp_path: Path, content: bytes | None, fault: str) -> None:
    path = tmp_path / "cas.pem"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SettingsError, match=rf"^SSL_CERT_FILE: .*{fault}"):
        load({"SSL_CERT_FILE": str(path)}, env_file=None)
