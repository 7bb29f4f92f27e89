"""The workspace-chat channel: Slack (https://docs.slack.dev/)."""

from domain.channels.model import Proof
from domain.channels.refused import BOT, CHANNEL
from ports.channels import Channel, ChannelDependencies

from . import delivery, webhook
from .api import BASE, WebApi, Workspace
from .config import CONFIG, DEFINITION, TARGET, SlackConfig, SlackTarget
from .socket_mode import SocketMode


def build(dependencies: ChannelDependencies) -> Channel[SlackConfig, SlackTarget]:
    api = WebApi(dependencies)
    workspace, sender = Workspace(api), delivery.Delivery(dependencies, api)
    return Channel(
        definition=DEFINITION,
        addresses=(BASE,),
        config=CONFIG,
        target=TARGET,
        webhook=webhook,
        refusals=(CHANNEL, BOT),
        metadata=api,
        placer=workspace,
        sender=sender,
        opener=workspace,
        limits=delivery,
        probe=api,
        fetcher=workspace,
        describer=workspace,
        quoted_reader=workspace,
        thread_reader=workspace,
        waiting=delivery,
        reactions=sender,
        typing=sender,
        streaming=sender,
        button_ack=sender,
        thumb_buttons=True,
        prompt_closer=sender,
        rich_kinds=delivery.RICH_KINDS,
        forms=sender,
        form_dialog=sender,
        connector=SocketMode(dependencies, api, workspace),
        connection_proof=Proof.PLATFORM,
    )
