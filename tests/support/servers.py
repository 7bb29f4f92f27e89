"""Loopback servers for tests: a scriptable aiohttp server and a raw one for what no library would do."""

import asyncio
import ssl
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from aiohttp import web
from aiohttp.test_utils import TestServer
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import NameOID

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]
RawHandler = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def serving(
    handler: Handler, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None, port: int = 0
) -> AsyncIterator[str]:
    """Serves every path with `handler`, on a free port unless one is given; gives the base address."""
    app = web.Application(client_max_size=64 * 2**20)
    app.router.add_route("*", "/{path:.*}", handler)
    server = TestServer(app, host=host, port=port, scheme="https" if tls else "http")
    await server.start_server(shutdown_timeout=0.1, ssl=tls)
    try:
        yield f"{server.scheme}://{host}:{server.port}"
    finally:
        assert server.runner is not None
        await close_runner(server.runner)


@contextmanager
def serving_apart(handler: Handler) -> Iterator[str]:
    """As `serving`, on a loop in a thread of its own, for a caller that blocks."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    server = serving(handler)
    try:
        yield asyncio.run_coroutine_threadsafe(server.__aenter__(), loop).result(30)
    finally:
        asyncio.run_coroutine_threadsafe(server.__aexit__(None, None, None), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def close_runner(runner: web.BaseRunner) -> None:
    """Ends a server, and the connections that it took."""
    for site in runner.sites:
        if isinstance(site._server, asyncio.Server):
            await _take_no_more(site._server)
    await runner.cleanup()


async def _take_no_more(server: asyncio.Server) -> None:
    """Lets no more connections in, and those that have just come find the server still there.

    A server that is closed between the two steps in which asyncio takes a connection drops its socket unclosed.
    """
    loop = asyncio.get_running_loop()
    for listener in server.sockets:
        loop.remove_reader(listener.fileno())
    for _ in range(3):
        await asyncio.sleep(0)


def a_certificate(folder: Path, ip: str) -> ssl.SSLContext:
    """A server's context with a self-signed certificate for an address, which also lies in `<ip>.pem`."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, ip)])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address(ip))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    pem = folder / f"{ip}.pem"
    pem.write_bytes(certificate.public_bytes(Encoding.PEM))
    secret = folder / f"{ip}.key"
    secret.write_bytes(key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(pem, secret)
    return context


@asynccontextmanager
async def raw_serving(handler: RawHandler) -> AsyncIterator[str]:
    """Serves connections with `handler`, which gets the bare streams after the request's head."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            await handler(reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client left first, which is what some tests are about
        finally:
            writer.close()

    async with listening(handle) as port:
        yield f"http://127.0.0.1:{port}"


@asynccontextmanager
async def listening(handler: RawHandler, tls: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    """Serves connections with `handler` from their first byte on, on a free port, which it gives."""
    server = await asyncio.start_server(handler, "127.0.0.1", 0, ssl=tls)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        await _take_no_more(server)
        server.close()
        await server.wait_closed()
