"""All use cases of a remote core."""

from adapters.outbound.core_client.access import RemoteAccess
from adapters.outbound.core_client.callbacks import RemoteCallbacks
from adapters.outbound.core_client.connection import CoreConnection
from adapters.outbound.core_client.events import RemoteEvents
from adapters.outbound.core_client.instances import RemoteInstancePages
from adapters.outbound.core_client.knowledge import RemoteFiles
from adapters.outbound.core_client.message_files import RemoteSharedFiles
from adapters.outbound.core_client.web_chat import RemoteChats
from adapters.rpc.engine import public_methods, remote
from adapters.rpc.tables import SERVICES
from ports.conversations import WebChat
from ports.files import SharedFiles
from ports.knowledge import KnowledgeFiles
from ports.use_cases import Access, Callbacks, Events, Instances, UseCases


def remote_use_cases(core: CoreConnection, callbacks: RemoteCallbacks) -> UseCases:
    methods = {key: call for service in SERVICES for key, call in service.methods(core).items()}
    by_hand: dict[type, object] = {
        Access: RemoteAccess(core),
        Callbacks: callbacks,
        Events: RemoteEvents(core),
        Instances: RemoteInstancePages(core),
        KnowledgeFiles: RemoteFiles(core),
        SharedFiles: RemoteSharedFiles(core),
        WebChat: RemoteChats(core),
    }
    for port, written in by_hand.items():
        methods |= {(port, name): method for name, method in public_methods(written).items()}
    return remote(UseCases, methods)
