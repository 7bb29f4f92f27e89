"""The check of the queue fails where Redis takes no writes or does not let us in, and the doctor tells the reason."""

import pytest
from redis import Redis

from adapters.outbound.jobs.arq_queue import ArqQueue, connect
from apps import findings
from apps.settings_loading import load
from domain.monitoring.model import Finding, Grade
from domain.refusals import Unavailable
from tests.support.ports import free_port


async def looked(url: str) -> Finding:
    queue = ArqQueue(connect(url))
    try:
        return await findings.awaited(
            "queue", findings.queue_text(load({"REDIS_URL": url}, env_file=None), queue.ping)
        )
    finally:
        await queue.close()


@pytest.mark.parametrize(
    ("command", "reason"),
    [
        ("CONFIG SET maxmemory 1", "maxmemory"),
        ("REPLICAOF 127.0.0.1 1", "read only replica"),
        ("CONFIG SET requirepass secret", "Authentication required"),
    ],
)
async def test_a_queue_that_cannot_be_used_is_told_with_its_reason(
    own_redis: str, command: str, reason: str
) -> None:
    assert await looked(own_redis) == Finding(Grade.OK, "queue", "REDIS_URL takes writes")
    with Redis.from_url(own_redis) as client:
        client.execute_command(*command.split())

    found = await looked(own_redis)

    assert found.grade is Grade.FAIL
    assert found.text.startswith("REDIS_URL cannot be used: ")
    assert reason in found.text


async def test_no_address_is_told_to_callers() -> None:
    port = free_port()
    queue = ArqQueue(connect(f"redis://127.0.0.1:{port}"))
    with pytest.raises(Unavailable) as refused:
        await queue.ping()
    await queue.close()
    assert str(port) not in str(refused.value)
    assert str(port) in (await looked(f"redis://127.0.0.1:{port}")).text
