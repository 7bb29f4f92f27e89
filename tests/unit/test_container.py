"""The composition root, as far as it stands without a database."""

import pytest

from adapters.outbound.system.encryption import new_key
from apps.compose.container import Container
from apps.processes.components import WorkerComponent
from apps.processes.knowledge import KnowledgeComponent
from apps.settings_loading import load
from domain.channels.model import PlatformAddress

MAIL = PlatformAddress("MAIL_API_URL")
SMS = PlatformAddress("SMS_PROVIDER_API_URL", "https://api.twilio.com")


def test_channels_get_the_addresses_of_the_settings() -> None:
    settings = load({"MAIL_API_URL": "https://mail.example/", "CONFIG_ENCRYPTION_KEY": new_key()}, None)
    dependencies = Container(settings=settings, dsn="", solitary=True).channels().dependencies
    assert dependencies.address(MAIL) == "https://mail.example"
    assert dependencies.address(SMS) == "https://api.twilio.com"


async def test_a_worker_has_no_slot_for_what_goes_over_another_ones_connection(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings = load({"CONFIG_ENCRYPTION_KEY": new_key(), "INTERNAL_SERVICE_KEY": "k" * 32}, None)
    container = Container(settings=settings, dsn="", solitary=True)
    monkeypatch.setattr(container.channels().supervisor, "held_by_other_process", lambda: {7: 0})
    worker = WorkerComponent(container)
    assert [queue_worker.slots.capacity().instances for queue_worker in worker.queue_workers] == [
        {7: 0},
        {7: 0},
    ]


async def test_knowledge_bases_stop_also_where_they_never_ran() -> None:
    """A process that is told to stop while it starts, or whose next part cannot start."""
    settings = load({"CONFIG_ENCRYPTION_KEY": new_key(), "INTERNAL_SERVICE_KEY": "k" * 32}, None)
    part = KnowledgeComponent(Container(settings=settings, dsn="", solitary=True))
    await part.start()
    await part.stop()
