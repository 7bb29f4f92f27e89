"""Servers of our own for the bench: the gateway with durable intake, straight or over a remote core.

python -m bench.ours intake DSN PORT PLATFORM       REST gateway on its use cases; no worker
python -m bench.ours core DSN GRPC_PORT PLATFORM    gRPC core; no worker
python -m bench.ours gateway PORT TARGET            REST gateway over a remote core
python -m bench.ours worker DSN DOWNSTREAM [PLATFORM]   a worker alone, whose resources run at one address, but for
                                                    those of the rules in the variable RESOURCES_FILE

PLATFORM is the address that answers for the platforms.
"""

import os
import sys
import tempfile

import uvloop

from adapters.outbound.core_client.callbacks import RemoteCallbacks
from adapters.outbound.core_client.connection import CoreConnection
from apps.compose.container import Container
from apps.grpc_server.main import GrpcComponent
from apps.http_gateway.main import build_remote_gateway
from apps.http_gateway.server import HttpComponent
from apps.processes.components import StorageComponent, WorkerComponent
from apps.processes.process import Component, run
from apps.processes.standalone import build_gateway
from apps.processes.starting import listen
from apps.settings import Settings
from apps.settings_loading import load

SERVICE_KEY = "the-service-key-that-all-benches-share"
KEY = "YmVuY2gtYmVuY2gtYmVuY2gtYmVuY2gtYmVuY2gtMTI="


def settings(**more: str) -> Settings:
    return load(
        {
            "DATA_DIR": tempfile.gettempdir(),
            "INTERNAL_SERVICE_KEY": SERVICE_KEY,
            "CONFIG_ENCRYPTION_KEY": KEY,
            "LOG_LEVEL": "error",
            **more,
        },
        env_file=None,
    )


def main(arguments: list[str]) -> int:
    match arguments:
        case ["intake", dsn, port, platform]:
            return uvloop.run(_intake(dsn, int(port), platform))
        case ["core", dsn, port, platform]:
            return uvloop.run(_core(dsn, port, platform))
        case ["gateway", port, target]:
            return uvloop.run(_gateway(int(port), target))
        case ["worker", dsn, downstream, *platform]:
            return uvloop.run(_worker(dsn, downstream, *platform))
    raise SystemExit(__doc__)


def _platforms(address: str) -> dict[str, str]:
    return {"BOT_MESSENGER_API_URL": address, "WORKSPACE_CHAT_API_URL": address}


async def _intake(dsn: str, port: int, platform: str) -> int:
    container = Container(settings=settings(**_platforms(platform)), dsn=dsn, solitary=True)
    listener = listen("127.0.0.1", port, "PORT")
    gateway = HttpComponent(build_gateway(container), listener, container.settings())
    return await run([StorageComponent(container, "standalone"), gateway], _ready)


async def _core(dsn: str, port: str, platform: str) -> int:
    container = Container(settings=settings(GRPC_PORT=port, **_platforms(platform)), dsn=dsn, solitary=True)
    return await run([StorageComponent(container, "core"), GrpcComponent(container)], _ready)


async def _gateway(port: int, target: str) -> int:
    core = CoreConnection(target)
    app = build_remote_gateway(settings(), core, RemoteCallbacks(core))
    parts: list[Component] = [HttpComponent(app, listen("127.0.0.1", port, "PORT"), settings())]
    return await run(parts, _ready)


async def _worker(dsn: str, downstream: str, platform: str = "") -> int:
    given = {name: os.environ[name] for name in ("RESOURCES_FILE", "PLATFORM_LIMITS") if name in os.environ}
    own = settings(DOWNSTREAM_URL=downstream, **given, **(_platforms(platform) if platform else {}))
    container = Container(settings=own, dsn=dsn, solitary=False)
    container.resources().load()
    return await run([StorageComponent(container, "worker"), WorkerComponent(container)], _ready)


def _ready() -> None:
    print("ready", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
