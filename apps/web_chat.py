"""The web chat, as it is set."""

from adapters.outbound.system.signed_tokens import Signer
from apps.compose.channels import Channels
from apps.compose.storage import Files, Foundation, Storage
from domain.web_chat.model import MOST_FILE_BYTES, own_origin
from domain.web_chat.service import VisitorService, WebChatService


def service(foundation: Foundation, storage: Storage, files: Files, channels: Channels) -> WebChatService:
    settings = foundation.settings
    signer = Signer(settings.config_encryption_key, b"switchboard: visitors of the web chat")
    return WebChatService(
        VisitorService(storage.instances, channels.registry, signer, foundation.clock, foundation.ids),
        storage.chat_log,
        storage.chat_feed,
        files.shared,
        storage.inbox,
        foundation.meter,
        own_origin(settings.agent_url),
        min(MOST_FILE_BYTES, settings.max_message_file_mb * 1024 * 1024),
    )
