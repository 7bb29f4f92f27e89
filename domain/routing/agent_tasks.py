"""Asks for tasks that outlive their runs, and sends their results first."""

import asyncio
import logging
from dataclasses import dataclass

from domain.channels.answers import Answer, Author
from domain.conversations.forwarding import DestinationService
from domain.conversations.sending import SendingService
from domain.files import MessageFilesService
from domain.instances.lookup import known_channel
from domain.instances.model import ACTIVE, Activity, Instance
from domain.refusals import Invalid, Refusal, StorageAway, Unavailable
from domain.routing.conversation import APOLOGY
from domain.routing.model import TASK_HOURS, AgentTask
from ports.channels import Channels
from ports.files import FilePlace
from ports.instances import HealthStore, InstanceStore
from ports.resources import LONGEST_PAUSE, AgentTasks, DownstreamFailed, TaskPoller

log = logging.getLogger(__name__)

SHORTEST_PAUSE = 5.0
"""Seconds between the first two polls of a task."""
USUAL_PAUSE = 60.0
"""Seconds between two polls of a task that has taken some minutes."""
TOO_LONG = f"the resource works on it for over {TASK_HOURS} hours; its result is not waited for any longer"


@dataclass(eq=False)
class AgentTaskService:
    tasks: AgentTasks
    poller: TaskPoller
    instances: InstanceStore
    channels: Channels
    destinations: DestinationService
    sending: SendingService
    files: MessageFilesService
    health: HealthStore

    async def poll_due(self) -> None:
        """Polls the tasks that are due. Raises `Unavailable`."""
        due = await self.tasks.lease_due()
        for outcome in await asyncio.gather(*map(self._poll, due), return_exceptions=True):
            if isinstance(outcome, BaseException):
                raise outcome

    async def _poll(self, task: AgentTask) -> None:
        """What fails for the moment is tried again later, for as long as a task is waited for."""
        pause = min(USUAL_PAUSE, SHORTEST_PAUSE * 1.5 ** min(task.polls, 20))
        instance = await self.instances.find(task.instance_id)
        if instance is None:
            return None
        error = None
        try:
            answer = await self._answer(task, instance)
            if answer is None and not task.overdue:
                return await self.tasks.postpone(task, pause)
            if answer is None:
                raise DownstreamFailed(TOO_LONG, retryable=False)
        except (DownstreamFailed, Unavailable) as failed:
            is_passing = failed.retryable if isinstance(failed, DownstreamFailed) else True
            if is_passing and not task.overdue:
                wait = min(failed.retry_after or 0.0, LONGEST_PAUSE)
                return await self.tasks.postpone(task, max(pause, wait))
            answer, error = Answer(APOLOGY), f"a task of the downstream resource failed: {failed}"
        try:
            await self._send(task, instance, answer)
        except Unavailable as away:
            if not task.overdue or isinstance(away, StorageAway):
                return await self.tasks.postpone(task, max(pause, away.retry_after))
            error = f"sending the result of a task: {away.message}"
        except Refusal as refusal:
            error = f"sending the result of a task: {refusal.message}"
        if error:
            log.warning("a task ends without a result: %s", error, extra={"instance": task.instance_id})
            await self.health.failed(task.instance_id, Activity.PROCESSING, error)
        return await self.tasks.finish(task)

    async def _answer(self, task: AgentTask, instance: Instance) -> Answer | None:
        """Raises `DownstreamFailed`, `Unavailable`."""
        result = await self.poller.poll(task, instance.user_id)
        if result is None:
            return None
        place = FilePlace(instance.id, task.session_id, task.inbox_id, inbound=False)
        files = tuple(await self.files.publish(result.artifacts, place)) if result.artifacts else ()
        return Answer(result.text, files, author=Author.RESOURCE)

    async def _send(self, task: AgentTask, instance: Instance, answer: Answer) -> None:
        """Sends to the conversation, or where the instance wants its answers to go. Raises `Refusal`."""
        if not answer.text.strip() and not answer.artifacts:
            return
        if instance.status != ACTIVE:
            raise Invalid("the instance is not active")
        key = f"result of {task.request_id}"  # with blanks, as no caller's key has any
        channel, destination = known_channel(self.channels, instance.channel_id), None
        if channel.forwarding:
            destination = channel.forwarding.destination(channel.config.load(instance.config))
        if destination is None:
            await self.sending.send_result(instance, task.session_id, answer, key)
        else:
            instance = await self.destinations.instance(instance.user_id, destination)
            await self.sending.forward(instance, destination.to, answer, key)
