"""Definitions and sockets to protobuf and back."""

from switchboard.channels.v1 import catalogue_pb2 as pb

from adapters.wire.conversion import Conversion
from adapters.wire.timestamps import from_us, to_us
from domain.channels.model import ChannelDefinition, ConfigField, SetupInstructions
from domain.instances.model import LiveSocket

_FIELD = Conversion(ConfigField, pb.ConfigField)


def definition_to_pb(value: ChannelDefinition) -> pb.Definition:
    return pb.Definition(
        id=value.id,
        name=value.name,
        description=value.description,
        type=value.type,
        fields=map(_FIELD.to_pb, value.fields),
        advice=[
            pb.FieldAlternatives(alternatives=[pb.FieldNames(names=names) for names in alternatives])
            for alternatives in value.advice
        ],
        without_public_address=value.without_public_address,
        checks_credentials=value.checks_credentials,
        setup_instructions=pb.SetupInstructions(
            webhook_required=value.setup.webhook_required,
            webhook_path=value.setup.webhook_path,
            title=value.setup.title,
            steps=value.setup.steps,
            docs_url=value.setup.docs_url,
        ),
    )


def definition_from_pb(message: pb.Definition) -> ChannelDefinition:
    """What the catalogue and forms show; rules that only the core needs do not cross."""
    setup = message.setup_instructions
    return ChannelDefinition(
        id=message.id,
        name=message.name,
        description=message.description,
        fields=tuple(map(_FIELD.from_pb, message.fields)),
        advice=tuple(tuple(tuple(group.names) for group in entry.alternatives) for entry in message.advice),
        without_public_address=message.without_public_address,
        checks_credentials=message.checks_credentials,
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
