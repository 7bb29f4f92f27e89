"""Opens folders for documents that answer no file."""

import re
from dataclasses import dataclass

from adapters.outbound.channels.common.addresses import read_address
from adapters.outbound.channels.drive_folder.config import DriveConfig, FileTarget
from ports.reply_capabilities import Opened, OpenRequest

_ADDRESS = re.compile(r"[A-Za-z0-9_-]{1,200}")


@dataclass(frozen=True, slots=True)
class Opener:
    address: str = "the id of a Google Drive folder: the last part of its address in the browser"

    def default_address(self, config: DriveConfig) -> str:
        return config.folder_id

    async def open(self, config: DriveConfig, request: OpenRequest) -> Opened[FileTarget]:
        """The session is the folder, as that of the changes in it."""
        if request.to == config.folder_id:
            return Opened(config.folder_id, FileTarget())
        folder = read_address(_ADDRESS, request.to, self.address)[0]
        return Opened(folder, FileTarget(folder=folder))
