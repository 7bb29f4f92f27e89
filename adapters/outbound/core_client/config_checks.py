"""Checks of configurations by a remote core."""

from collections.abc import Sequence

from switchboard.channels.v1 import checks_pb2_grpc

from adapters.outbound.core_client.channels import SLOW
from adapters.outbound.core_client.connection import CoreConnection
from adapters.wire.config_checks import CREDENTIALS, DRAFT, FAULT
from domain.access.model import Caller
from domain.instances.checks.model import ConfigDraft, CredentialsCheck
from domain.refusals import Fault


class RemoteConfigChecks:
    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = checks_pb2_grpc.ConfigCheckServiceStub(core.channel)

    async def faults(self, caller: Caller, draft: ConfigDraft) -> Sequence[Fault]:
        answer = await self._core.call(self._stub.CheckConfig, DRAFT.to_pb(draft))
        return [FAULT.from_pb(fault) for fault in answer.faults]

    async def credentials(self, caller: Caller, draft: ConfigDraft) -> CredentialsCheck:
        request = DRAFT.to_pb(draft)
        return CREDENTIALS.from_pb(await self._core.call(self._stub.CheckCredentials, request, deadline=SLOW))
