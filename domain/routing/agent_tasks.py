"""Asks for tasks that outlive their runs, and sends their results first."""

import asyncio
import logging
from dataclasses import dataclass

from domain.channels.answers import Answer, Author
from domain.channels.provenance import Provenance
from domain.conversations.results import ResultService
from domain.files import MessageFilesService
from domain.instances.model import Activity, Instance
from domain.refusals import Refusal, Unavailable
from domain.routing.conversation import APOLOGY
from domain.routing.model import TASK_HOURS, AgentTask
from ports.files import FilePlace
from ports.instances import HealthStore, InstanceStore
from ports.resources import LONGEST_PAUSE, AgentTasks, DownstreamFailed, PollTask

log = logging.getLogger(__name__)

SHORTEST_PAUSE = 5.0
"""Seconds between the first two polls of a task."""
GROWTH, MOST_STEPS = 1.5, 20
"""By which factor, and how often, the pause grows."""
USUAL_PAUSE = 60.0
"""Seconds between two polls of a task that has taken some minutes."""
TOO_LONG = f"the resource works on it for over {TASK_HOURS} hours; its result is not waited for any longer"


class _NotYet(Exception):
    """A task that is asked for again, after so many seconds at least."""

    def __init__(self, seconds: float | None) -> None:
        super().__init__()
        self.seconds = seconds or 0.0


@dataclass(eq=False)
class AgentTaskService:
    tasks: AgentTasks
    poll_task: PollTask
    instances: InstanceStore
    results: ResultService
    files: MessageFilesService
    health: HealthStore

    async def poll_due(self) -> None:
        """Polls the tasks that are due. Raises `Unavailable`."""
        due = await self.tasks.lease_due()
        for outcome in await asyncio.gather(*map(self._poll, due), return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome

    async def _poll(self, task: AgentTask) -> None:
        """Raises `Unavailable`."""
        instance = await self.instances.find(task.instance_id)
        if instance is None:
            return
        try:
            error = await self._settle(task, instance)
        except _NotYet as not_yet:
            pause = min(USUAL_PAUSE, SHORTEST_PAUSE * GROWTH ** min(task.polls, MOST_STEPS))
            await self.tasks.postpone(task, max(pause, min(not_yet.seconds, LONGEST_PAUSE)))
            return
        if error:
            log.warning("a task ends without a result: %s", error, extra={"instance": task.instance_id})
            await self.health.failed(task.instance_id, Activity.PROCESSING, error)
        await self.tasks.finish(task)

    async def _settle(self, task: AgentTask, instance: Instance) -> str:
        """Sends the result of a task, or an apology; why there is no result, empty if there is one. Raises `_NotYet`,
        also where a message went to the task meanwhile, which gets the result."""
        error = ""
        try:
            answer = await self._answer(task, instance)
        except DownstreamFailed as failed:
            if failed.retryable and not task.overdue:
                raise _NotYet(failed.retry_after) from failed
            answer, error = Answer(APOLOGY), f"a task of the downstream resource failed: {failed}"
        except Unavailable as away:
            raise _NotYet(away.retry_after) from away
        try:
            if not await self.tasks.renew(task):
                raise _NotYet(None)
            key = f"result of {task.request_id}"  # with blanks, as no caller's key has any
            await self.results.send(instance, task.session_id, answer, key)
        except Unavailable as away:
            raise _NotYet(away.retry_after) from away
        except Refusal as refusal:
            return f"sending the result of a task: {refusal.message}"
        return error

    async def _answer(self, task: AgentTask, instance: Instance) -> Answer:
        """Raises `_NotYet`, `DownstreamFailed`, `Unavailable`."""
        result = await self.poll_task(task, instance.user_id)
        if result is None and task.overdue:
            raise DownstreamFailed(TOO_LONG, retryable=False)
        if result is None:
            raise _NotYet(None)
        place = FilePlace(instance.id, task.session_id, task.inbox_id, inbound=False)
        files = tuple(await self.files.publish(result.artifacts, place)) if result.artifacts else ()
        provenance = Provenance(str(task.resource))
        return Answer(result.text, files, author=Author.RESOURCE, provenance=provenance)
