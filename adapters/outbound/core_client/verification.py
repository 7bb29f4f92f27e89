"""Identity verification of a remote core."""

from collections.abc import Mapping, Sequence

from switchboard.verification.v1 import verification_pb2 as pb
from switchboard.verification.v1 import verification_pb2_grpc

from adapters.outbound.core_client.connection import CoreConnection
from domain.access.model import Caller
from domain.channels.messages import Identity
from domain.verification.model import BotLink, CodeSent, OAuthResult, Provider

SLOW = 75.0
"""Seconds for calls that wait for a mail server or a provider."""


class RemoteVerification:
    """The four ports of `ports.use_cases.Verification`."""

    def __init__(self, core: CoreConnection) -> None:
        self._core = core
        self._stub = verification_pb2_grpc.VerificationServiceStub(core.channel)

    async def providers(self) -> Mapping[str, bool]:
        answer = await self._core.call(self._stub.ListProviders, pb.ListProvidersRequest())
        offered = answer.providers
        return {provider.value: offered[provider.value] for provider in Provider if provider.value in offered}

    async def list_identities(self, caller: Caller) -> Sequence[Identity]:
        answer = await self._core.call(self._stub.ListIdentities, pb.ListIdentitiesRequest())
        return [Identity(identity.field, identity.value) for identity in answer.identities]

    async def remove_identity(self, caller: Caller, identity: Identity) -> None:
        request = pb.RemoveIdentityRequest(identity=pb.Identity(field=identity.field, value=identity.value))
        await self._core.call(self._stub.RemoveIdentity, request)

    async def start_email(self, caller: Caller, email: str) -> CodeSent:
        request = pb.StartEmailRequest(email=email)
        sent = await self._core.call(self._stub.StartEmail, request, deadline=SLOW)
        return CodeSent(sent.expires_in_seconds, sent.message)

    async def verify_email(self, caller: Caller, otp: str) -> str:
        return (await self._core.call(self._stub.VerifyEmail, pb.VerifyEmailRequest(otp=otp))).email

    async def start_bot_messenger(self, caller: Caller) -> BotLink:
        link = await self._core.call(self._stub.StartBotMessenger, pb.StartBotMessengerRequest())
        return BotLink(link.deep_link, link.expires_in_seconds, link.message)

    async def bot_webhook(self, headers: Mapping[str, str], body: bytes) -> None:
        request = pb.BotWebhookRequest(headers=headers, body=body)
        await self._core.call(self._stub.BotWebhook, request, deadline=SLOW)

    async def complete_bot_messenger(self, caller: Caller, token: str, messenger_id: str, phone: str) -> str:
        request = pb.CompleteBotMessengerRequest(token=token, bot_messenger_id=messenger_id, phone=phone)
        return (await self._core.call(self._stub.CompleteBotMessenger, request)).user_id

    async def start_oauth(self, caller: Caller, provider: str) -> str:
        request = pb.StartOAuthRequest(provider=provider)
        return (await self._core.call(self._stub.StartOAuth, request)).auth_url

    async def complete_oauth(self, provider: str, state: str, code: str, error: str) -> OAuthResult:
        request = pb.CompleteOAuthRequest(provider=provider, state=state, code=code, error=error)
        result = await self._core.call(self._stub.CompleteOAuth, request, deadline=SLOW)
        return OAuthResult(result.success, result.message)
