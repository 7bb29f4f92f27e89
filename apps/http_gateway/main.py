"""`switchboard gateway`: the REST gateway alone, a stateless client of a remote core."""

import asyncio
import logging
from argparse import Namespace
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial

import grpc
from grpc_health.v1.health_pb2 import HealthCheckRequest, HealthCheckResponse
from grpc_health.v1.health_pb2_grpc import HealthStub
from switchboard.access.v1 import access_pb2, access_pb2_grpc

from adapters.inbound.jobs.periodic import PeriodicRunner, PeriodicTask
from adapters.inbound.rest.app import build
from adapters.inbound.rest.asgi import App
from adapters.outbound.core_client.callbacks import RemoteCallbacks
from adapters.outbound.core_client.connection import CoreConnection
from adapters.outbound.core_client.cores import address_of
from adapters.outbound.core_client.use_cases import remote_use_cases
from adapters.outbound.net.tls import LOOK_EVERY
from adapters.outbound.system.clock import RandomIds, SystemClock
from adapters.outbound.system.metrics import CertificateMetrics, PrometheusMeter
from adapters.outbound.system.tracing import Traces
from adapters.version import VERSION
from apps import logs
from apps.http_gateway.server import HttpComponent, gateway_options
from apps.processes.process import Component, Phase, run, serve
from apps.processes.starting import listen
from apps.setting_types import check_service_key
from apps.settings import Settings
from apps.tls import tls_to_core
from domain.refusals import Unauthenticated, Unavailable
from ports.system import Span, no_span

log = logging.getLogger("switchboard")

CHECK_SECONDS = 2.0
UNPROVED = (
    "the core does not know that this is a gateway, and counts all visitors of the web chat and all wrong keys as of"
    " one address: set INTERNAL_SERVICE_KEY to the core's, or CORE_TLS_CERT_FILE where the core asks for certificates"
)
LACKS = {
    "database": "database is away, or takes no writes",
    "queue": "queue is away, or takes no writes",
    "workers": "messages wait, and no worker runs; start `switchboard worker`",
    "migrations": "schema is not the newest, or cannot be read; where the database answers, run: switchboard migrate",
}
"""What a core needs, by the names that its health checking answers for, and in words when it is not there."""


def main(settings: Settings, _: Namespace) -> int:
    """Run the gateway until a signal stops it, and return the exit status. Needs no database."""
    logs.set_up(settings, "gateway")
    listener = listen(settings.http_host, settings.http_port, "HTTP_PORT")
    target = settings.core_target or address_of(settings.grpc_host, settings.grpc_port)
    host, port = listener.getsockname()[:2]
    banner = f"Switchboard gateway {VERSION} is ready at http://{host}:{port}, core at {target}"
    service_key = settings.internal_service_key
    with suppress(
        OSError, ValueError
    ):  # else that of the service that uses the same DATA_DIR, if there is one
        kept = settings.data_dir / "secrets" / "internal_service_key"
        service_key = service_key or kept.read_text("ascii").strip()
        check_service_key(service_key)
    traces = Traces(settings.otlp_endpoint, "gateway", settings.ssl_cert_file)

    async def gateway() -> int:
        core = CoreConnection(target, tls_to_core(settings), service_key)
        callbacks = RemoteCallbacks(core)
        rest = HttpComponent(build_remote_gateway(settings, core, callbacks, traces.span), listener, settings)
        has_certificate = settings.core_tls_cert_file is not None
        parts = [_Core(core, callbacks, has_certificate=has_certificate), rest]
        try:
            return await run(parts, lambda: logs.announce(banner))
        finally:
            await asyncio.to_thread(traces.close)

    return serve(gateway())


def build_remote_gateway(
    settings: Settings, core: CoreConnection, callbacks: RemoteCallbacks, span: Span = no_span
) -> App:
    """The gateway over a remote core."""
    meter = PrometheusMeter()
    checks: dict[str, Callable[[], Awaitable[None]]]
    checks = {name or "core": partial(_core_answers, core, name) for name in ("", *LACKS)}
    if core.cores.tls is not None:
        CertificateMetrics(core.cores.tls.files, core.cores.certificates, meter.registry)
        checks["certificates"] = core.cores.tls.files.check

    async def metrics() -> bytes:
        return meter.exposition()

    options = gateway_options(settings, checks, metrics, meter.answered, span)
    return build(remote_use_cases(core, callbacks), SystemClock(), RandomIds(), options)


async def _core_answers(core: CoreConnection, name: str) -> None:
    """Asks the core how it stands with what it needs, or as a whole. Raises when it does not answer, or not well."""
    request = HealthCheckRequest(service=name)
    try:
        answer = await HealthStub(core.channel).Check(request, timeout=CHECK_SECONDS, wait_for_ready=True)
    except grpc.aio.AioRpcError as error:
        if name and error.code() is grpc.StatusCode.NOT_FOUND:
            return  # a core of an earlier version, which does not look at it
        raise RuntimeError(f"the core does not answer: {core.cores.fault or error.code().name}") from error
    if answer.status != HealthCheckResponse.SERVING:
        raise RuntimeError(f"the core says that its {LACKS[name]}" if name else "the core cannot serve")


class _Core(Component):
    name = "core connection"
    phase = Phase.CONNECTIONS

    def __init__(self, core: CoreConnection, callbacks: RemoteCallbacks, *, has_certificate: bool) -> None:
        self._core = core
        self._callbacks = callbacks
        self._checks_proof = not has_certificate
        self._reloading: asyncio.Task[None] | None = None

    async def start(self) -> None:
        await self._core.cores.refresh()

    async def run(self) -> None:
        """Follows certificates and names of several addresses."""
        tasks = [
            PeriodicTask("cores", LOOK_EVERY, self._core.cores.refresh),
            PeriodicTask("proof", LOOK_EVERY, self._check_proof),
        ]
        await PeriodicRunner(tasks).run()

    async def _check_proof(self) -> None:
        """Warns if the core does not take the service key, once the core answers."""
        if not self._checks_proof:
            return
        who_am_i = access_pb2_grpc.AccessServiceStub(self._core.channel).WhoAmI
        metadata = self._core.as_gateway()
        try:
            answer = await self._core.call(who_am_i, access_pb2.WhoAmIRequest(), metadata=metadata)
            is_known = answer.is_service
        except Unauthenticated:
            is_known = False
        except (Unavailable, grpc.aio.AioRpcError):
            return
        if not is_known:
            log.warning("%s", UNPROVED)
        self._checks_proof = False

    def reload(self) -> None:
        """Looks at certificates and names at once."""
        self._reloading = asyncio.create_task(self._core.cores.refresh())

    async def stop(self) -> None:
        await self._callbacks.close()
        await self._core.close()
