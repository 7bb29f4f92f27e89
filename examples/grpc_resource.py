"""A downstream resource over gRPC: streams its answer word by word.

    .venv/bin/python examples/grpc_resource.py  # listens on 127.0.0.1:8702
    RESOURCES_FILE=examples/resources.toml switchboard up

The contract is proto/switchboard/downstream/v1/runner.proto.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from typing import Any

from grpc import aio
from switchboard.downstream.v1 import runner_pb2 as pb
from switchboard.downstream.v1.runner_pb2_grpc import (
    ResourceRunnerServicer,
    add_ResourceRunnerServicer_to_server,
)


class Runner(ResourceRunnerServicer):
    """Says each word back, then asks to ring a bell when the message wants it."""

    async def Run(self, request: pb.RunRequest, context: Any) -> AsyncIterator[pb.RunResponse]:  # noqa: N802
        if request.HasField("approval"):
            rung = request.approval.decision != "rejected"
            yield pb.RunResponse(text_delta="Ding!" if rung else "Silence, then.")
            return
        for position, word in enumerate(request.text.split()):
            yield pb.RunResponse(text_delta=f" {word}" if position else word)
        if "bell" in request.text:
            confirmation = pb.Confirmation(tool="ring_bell", parameters_json='{"times": 1}')
            yield pb.RunResponse(confirmation=confirmation)


async def start(port: int) -> tuple[aio.Server, int]:
    """A running server on the loopback interface and its port; 0 takes a free one."""
    server = aio.server()
    add_ResourceRunnerServicer_to_server(Runner(), server)
    bound = server.add_insecure_port(f"127.0.0.1:{port}")
    await server.start()
    return server, bound


async def main() -> None:
    server, _ = await start(int(sys.argv[1]) if len(sys.argv) > 1 else 8702)
    await server.wait_for_termination()


if __name__ == "__main__":
    asyncio.run(main())
