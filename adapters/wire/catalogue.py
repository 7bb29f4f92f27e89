"""Definitions and sockets to protobuf and back."""

from typing import cast

from switchboard.channels.v1 import catalogue_pb2 as pb

from adapters.wire.timestamps import from_us, to_us
from domain.channels.model import ChannelDefinition, ConfigField, FieldType, SetupInstructions
from domain.instances.model import LiveSocket


def definition_to_pb(value: ChannelDefinition) -> pb.Definition:
    return pb.Definition(
        id=value.id,
        name=value.name,
        description=value.description,
        type=value.type,
        fields=[
            pb.ConfigField(
                name=field.name, type=field.type, description=field.description, required=field.required
            )
            for field in value.fields
        ],
        setup_instructions=pb.SetupInstructions(
            webhook_required=value.setup.webhook_required,
            webhook_path=value.setup.webhook_path,
            title=value.setup.title,
            steps=value.setup.steps,
            docs_url=value.setup.docs_url,
        ),
    )


def definition_from_pb(message: pb.Definition) -> ChannelDefinition:
    """What the catalogue shows; rules that only the core needs do not cross."""
    setup = message.setup_instructions
    return ChannelDefinition(
        id=message.id,
        name=message.name,
        description=message.description,
        fields=tuple(
            ConfigField(field.name, cast(FieldType, field.type), field.description, field.required)
            for field in message.fields
        ),
        setup=SetupInstructions(
            setup.title, tuple(setup.steps), setup.docs_url, setup.webhook_required, setup.webhook_path
        ),
    )


def socket_to_pb(value: LiveSocket) -> pb.Socket:
    return pb.Socket(
        instance_id=value.instance_id,
        channel_id=value.channel_id,
        channel_name=value.channel_name,
        status=value.status,
        connected_since_us=to_us(value.connected_since),
    )


def socket_from_pb(message: pb.Socket) -> LiveSocket:
    return LiveSocket(
        message.instance_id,
        message.channel_id,
        message.channel_name,
        message.status,
        from_us(message.connected_since_us),
    )
