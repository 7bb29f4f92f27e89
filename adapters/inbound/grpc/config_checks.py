"""Servicer of the checks of configurations."""

from typing import Any

from switchboard.channels.v1 import checks_pb2 as pb
from switchboard.channels.v1 import checks_pb2_grpc

from adapters.inbound.grpc.interceptors import caller
from adapters.wire.config_checks import CREDENTIALS, DRAFT, FAULT
from ports.config_checks import ConfigChecks


class ConfigCheckServicer(checks_pb2_grpc.ConfigCheckServiceServicer):
    def __init__(self, checks: ConfigChecks) -> None:
        self._checks = checks

    async def CheckConfig(self, request: pb.ConfigDraft, context: Any) -> pb.CheckConfigResponse:
        faults = await self._checks.faults(caller(), DRAFT.from_pb(request))
        return pb.CheckConfigResponse(faults=map(FAULT.to_pb, faults))

    async def CheckCredentials(self, request: pb.ConfigDraft, context: Any) -> pb.CheckCredentialsResponse:
        return CREDENTIALS.to_pb(await self._checks.credentials(caller(), DRAFT.from_pb(request)))
