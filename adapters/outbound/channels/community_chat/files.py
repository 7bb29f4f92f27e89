"""Files of Mattermost's posts."""

from collections.abc import AsyncIterator

from adapters.outbound.channels.common.bodies import size, text
from adapters.outbound.channels.common.client import PlatformClient
from adapters.outbound.channels.common.outcomes import excerpt
from adapters.outbound.http.paths import segment
from domain.channels.messages import Attachment
from ports.capabilities import PlatformError
from ports.channels import ChannelDependencies

from .api import MattermostApi, api_request
from .config import MattermostConfig


class Files:
    def __init__(self, dependencies: ChannelDependencies, api: MattermostApi) -> None:
        self._client = PlatformClient(dependencies.http, "Mattermost", excerpt)
        self._api = api

    async def described(self, config: MattermostConfig, attachment: Attachment) -> Attachment:
        """Name, type and size of a file: a webhook tells its id alone."""
        path = f"/files/{segment(attachment.source['fileId'])}/info"
        try:
            info = await self._api.read(config, path, "the file's id", 10.0)
        except PlatformError:
            return attachment
        name, mime_type = text(info, "name"), text(info, "mime_type").partition(";")[0].strip()
        return Attachment(
            name or attachment.name, mime_type or attachment.mime_type, attachment.source, size(info, "size")
        )

    def fetch(self, config: MattermostConfig, attachment: Attachment) -> AsyncIterator[bytes]:
        request = api_request(config, "GET", f"/files/{segment(attachment.source['fileId'])}")
        return self._client.download(request)
