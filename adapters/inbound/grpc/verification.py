"""The servicer of identity verification: convert, call, convert."""

from typing import Any

from switchboard.verification.v1 import verification_pb2 as pb
from switchboard.verification.v1 import verification_pb2_grpc

from adapters.inbound.grpc.interceptors import caller
from domain.channels.messages import Identity
from ports.use_cases import Verification


class VerificationServicer(verification_pb2_grpc.VerificationServiceServicer):
    def __init__(self, verification: Verification) -> None:
        self._verification = verification

    async def ListProviders(self, request: pb.ListProvidersRequest, context: Any) -> pb.ListProvidersResponse:
        return pb.ListProvidersResponse(providers=await self._verification.identities.providers())

    async def ListIdentities(
        self, request: pb.ListIdentitiesRequest, context: Any
    ) -> pb.ListIdentitiesResponse:
        identities = await self._verification.identities.list_identities(caller())
        return pb.ListIdentitiesResponse(
            identities=[pb.Identity(field=identity.field, value=identity.value) for identity in identities]
        )

    async def RemoveIdentity(
        self, request: pb.RemoveIdentityRequest, context: Any
    ) -> pb.RemoveIdentityResponse:
        identity = Identity(request.identity.field, request.identity.value)
        await self._verification.identities.remove_identity(caller(), identity)
        return pb.RemoveIdentityResponse()

    async def StartBotMessenger(
        self, request: pb.StartBotMessengerRequest, context: Any
    ) -> pb.StartBotMessengerResponse:
        link = await self._verification.bot.start_bot_messenger(caller())
        return pb.StartBotMessengerResponse(
            deep_link=link.address, expires_in_seconds=link.expires_in_seconds, message=link.message
        )

    async def BotWebhook(self, request: pb.BotWebhookRequest, context: Any) -> pb.BotWebhookResponse:
        await self._verification.bot.bot_webhook(dict(request.headers), request.body)
        return pb.BotWebhookResponse()

    async def CompleteBotMessenger(
        self, request: pb.CompleteBotMessengerRequest, context: Any
    ) -> pb.CompleteBotMessengerResponse:
        user = await self._verification.bot.complete_bot_messenger(
            caller(), request.token, request.bot_messenger_id, request.phone
        )
        return pb.CompleteBotMessengerResponse(user_id=user)

    async def StartEmail(self, request: pb.StartEmailRequest, context: Any) -> pb.StartEmailResponse:
        sent = await self._verification.email.start_email(caller(), request.email)
        return pb.StartEmailResponse(expires_in_seconds=sent.expires_in_seconds, message=sent.message)

    async def VerifyEmail(self, request: pb.VerifyEmailRequest, context: Any) -> pb.VerifyEmailResponse:
        email = await self._verification.email.verify_email(caller(), request.otp)
        return pb.VerifyEmailResponse(email=email, message=f"{email} is verified.")

    async def StartOAuth(self, request: pb.StartOAuthRequest, context: Any) -> pb.StartOAuthResponse:
        return pb.StartOAuthResponse(
            auth_url=await self._verification.oauth.start_oauth(caller(), request.provider)
        )

    async def CompleteOAuth(self, request: pb.CompleteOAuthRequest, context: Any) -> pb.CompleteOAuthResponse:
        result = await self._verification.oauth.complete_oauth(
            request.provider, request.state, request.code, request.error
        )
        return pb.CompleteOAuthResponse(success=result.success, message=result.message)
