"""Signing keys, credentials, and files that are fetched with them."""

import pytest

from adapters.outbound.channels.enterprise_chat.channel import build
from adapters.outbound.channels.tests.calls import ChannelCalls
from adapters.outbound.channels.tests.support import client, dependencies
from domain.channels.messages import Attachment
from ports.capabilities import PlatformError
from tests.support.platforms.teams import ISSUER, KID, Teams

from .answering import BOT, LEGACY


async def test_metadata_are_issuer_and_keys(channel: ChannelCalls, teams: Teams) -> None:
    fetch_metadata = await channel.fetch_metadata(BOT)
    assert fetch_metadata["issuer"] == ISSUER
    assert [key["kid"] for key in fetch_metadata["keys"]] == [KID]
    assert await channel.fetch_metadata({"webhookUrl": LEGACY}) == {}
    for reply in ((500, None), (200, ["x"])):
        teams.next_reply(*reply)
        with pytest.raises(PlatformError):
            await channel.fetch_metadata(BOT)


async def test_the_metadata_address_may_be_given_in_full(teams: Teams) -> None:
    full = f"{teams.url}/v1/.well-known/openidconfiguration"
    async with client() as http:
        channel = ChannelCalls(build(dependencies(http, {"ENTERPRISE_CHAT_OPENID_URL": full})))
        assert (await channel.fetch_metadata(BOT))["issuer"] == ISSUER


async def test_probing_tries_the_credentials(channel: ChannelCalls, teams: Teams) -> None:
    await channel.probe(BOT)
    await channel.probe(BOT)
    assert teams.tokens == 2
    await channel.probe({"webhookUrl": LEGACY})
    with pytest.raises(PlatformError, match="AADSTS7000215"):
        await channel.probe({**BOT, "appPassword": "wrong"})
    with pytest.raises(PlatformError, match="webhookUrl"):
        await channel.probe({})


async def test_pictures_of_the_service_are_fetched_with_the_token(
    channel: ChannelCalls, teams: Teams
) -> None:
    picture = Attachment("x.png", "image/png", {"url": f"{teams.url}/v3/attachments/1/views/original"})
    assert b"".join([piece async for piece in channel.fetch(BOT, picture)]) == b"picture"


async def test_a_picture_cannot_be_fetched_with_wrong_credentials(
    channel: ChannelCalls, teams: Teams
) -> None:
    picture = Attachment("x.png", "image/png", {"url": f"{teams.url}/v3/attachments/1/views/original"})
    with pytest.raises(PlatformError, match="AADSTS7000215"):
        assert [piece async for piece in channel.fetch({**BOT, "appPassword": "wrong"}, picture)]


async def test_other_files_are_fetched_without_it(channel: ChannelCalls, teams: Teams) -> None:
    file = Attachment("x.pdf", "application/pdf", {"url": "http://127.0.0.2:1/x"})
    with pytest.raises(PlatformError, match="Teams: "):
        assert [piece async for piece in channel.fetch(BOT, file)]
    assert teams.seen == []
