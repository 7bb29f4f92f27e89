"""Tasks that outlive their runs, in a real PostgreSQL."""

from dataclasses import replace
from datetime import timedelta

import pytest

from adapters.outbound.storage.agent_tasks import PostgresAgentTasks
from adapters.outbound.storage.pool import Database
from adapters.outbound.storage.retention import AGENT_TASKS, Retention, Times
from adapters.outbound.storage.sessions import PostgresSessions
from domain.routing.model import TASK_HOURS, AgentTask
from domain.routing.resource import parse_resource


@pytest.fixture
def tasks(database: Database) -> PostgresAgentTasks:
    return PostgresAgentTasks(database)


@pytest.fixture
def task(instance: int) -> AgentTask:
    resource = parse_resource("agent::helper")
    return AgentTask(
        instance_id=instance, session_id="s", resource=resource, request_id="r", task_id="t", inbox_id=None
    )


async def pass_time(database: Database, seconds: float) -> None:
    await database.execute(
        "UPDATE agent_task SET next_poll_at = next_poll_at - make_interval(secs => %s),"
        " created_at = created_at - make_interval(secs => %s)",
        (seconds, seconds),
    )


async def test_a_task_is_polled_by_one_process_at_a_time(
    tasks: PostgresAgentTasks, database: Database, task: AgentTask
) -> None:
    assert await tasks.add(task)
    assert await tasks.lease_due() == []
    await pass_time(database, 6)
    assert await tasks.lease_due() == [replace(task, polls=1)]
    assert await tasks.lease_due() == []
    await pass_time(database, 121)
    assert await tasks.lease_due() == [replace(task, polls=2)], "of a process that died"


async def test_a_postponed_task_is_polled_later(
    tasks: PostgresAgentTasks, database: Database, task: AgentTask
) -> None:
    await tasks.add(task)
    await tasks.postpone(task, 60)
    await pass_time(database, 59)
    assert await tasks.lease_due() == []
    await pass_time(database, 2)
    assert await tasks.lease_due() == [replace(task, polls=1)]


async def test_a_task_is_polled_after_the_clock_was_put_back(
    tasks: PostgresAgentTasks, database: Database, task: AgentTask
) -> None:
    await tasks.add(task)
    await tasks.postpone(task, 1e9)
    assert await tasks.lease_due() == []
    await pass_time(database, -3600)
    assert await tasks.lease_due() == [replace(task, polls=1)]


async def test_a_finished_task_is_known_and_polled_no_more(
    tasks: PostgresAgentTasks, database: Database, task: AgentTask
) -> None:
    await tasks.add(task)
    await tasks.finish(task)
    await tasks.add(task)
    await pass_time(database, 6)
    assert await tasks.lease_due() == []
    assert await tasks.is_finished(task.instance_id, task.request_id)
    await tasks.remove(task.instance_id, task.request_id)
    assert await tasks.is_finished(task.instance_id, task.request_id)


async def test_a_task_is_removed_once_another_message_gets_its_result(
    tasks: PostgresAgentTasks, database: Database, task: AgentTask
) -> None:
    assert await tasks.is_finished(task.instance_id, task.request_id) is None
    await tasks.add(task)
    assert await tasks.is_finished(task.instance_id, task.request_id) is False
    await tasks.remove(task.instance_id, task.request_id)
    assert await tasks.is_finished(task.instance_id, task.request_id) is None


async def test_only_who_leased_a_task_last_may_send_its_result(
    tasks: PostgresAgentTasks, database: Database, task: AgentTask
) -> None:
    await tasks.add(task)
    await pass_time(database, 6)
    [leased] = await tasks.lease_due()
    assert await tasks.renew(leased)
    await tasks.hold(task.instance_id, task.request_id, 60)
    assert not await tasks.renew(leased)
    await tasks.postpone(leased, 0)
    assert await tasks.lease_due() == [], "the message that goes to the task keeps its lease"
    await tasks.hold(task.instance_id, task.request_id, 0)
    [leased] = await tasks.lease_due()
    assert await tasks.renew(leased)
    await tasks.remove(task.instance_id, task.request_id)
    assert not await tasks.renew(leased)


async def test_a_task_is_waited_for_a_day(
    tasks: PostgresAgentTasks, database: Database, task: AgentTask
) -> None:
    await tasks.add(task)
    await pass_time(database, TASK_HOURS * 3600 + 1)
    assert await tasks.lease_due() == [replace(task, polls=1, overdue=True)]


async def test_nothing_is_kept_of_an_instance_that_is_gone(
    tasks: PostgresAgentTasks, database: Database, task: AgentTask
) -> None:
    await tasks.add(task)
    await database.execute("DELETE FROM channel_instance WHERE id = %s", (task.instance_id,))
    assert await database.fetch_value("SELECT count(*) FROM agent_task") == 0
    assert not await tasks.add(task)


async def test_a_task_moves_with_its_conversation(
    tasks: PostgresAgentTasks, database: Database, task: AgentTask
) -> None:
    await tasks.add(task)
    await PostgresSessions(database).rename(task.instance_id, "s", "new")
    await pass_time(database, 6)
    assert await tasks.lease_due() == [replace(task, session_id="new", polls=1)]


async def test_a_task_goes_after_two_days(
    tasks: PostgresAgentTasks, database: Database, task: AgentTask
) -> None:
    await tasks.add(task)
    await tasks.add(replace(task, request_id="q"))
    await database.execute(
        "UPDATE agent_task SET created_at = now() - make_interval(days => %s) WHERE request_id = 'q'",
        (AGENT_TASKS.days + 1,),
    )
    await Retention(database, Times(timedelta(days=7))).clean()
    assert await database.fetch_value("SELECT request_id FROM agent_task") == "r"
