"""Addresses of the files of messages that we hold a copy of."""

from dataclasses import replace

from domain.channels.answers import Artifact
from domain.conversations.model import Message
from ports.files import FileLinks, SharedFile


def with_addresses(message: Message, links: FileLinks) -> Message:
    """The message, each file that we hold a copy of with a signed address that expires."""
    return replace(message, files=[_addressed(file, links) for file in message.files])


def _addressed(file: Artifact, links: FileLinks) -> Artifact:
    if file.blob is None:
        return file
    return replace(file, url=links.address(SharedFile(file.blob, file.name, file.mime_type)))
