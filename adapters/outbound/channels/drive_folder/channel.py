"""The Google Drive folder channel."""

from __future__ import annotations

from adapters.outbound.channels.drive_folder.definition import DEFINITION
from domain.channels.model import ChannelDefinition
from ports.channels import Kit


class DriveFolder:
    """The Google Drive folder channel."""

    def __init__(self, kit: Kit) -> None:
        self._kit = kit

    @property
    def definition(self) -> ChannelDefinition:
        return DEFINITION


def build(kit: Kit) -> DriveFolder:
    """The channel, ready for use."""
    return DriveFolder(kit)
