"""Has the memory nodes of deleted bases deleted too, however long the memory service is away."""

import logging

from ports.system import MemoryNodes, MemoryRefused, MemoryTasks

LONGEST_PAUSE = 3600.0

logger = logging.getLogger(__name__)


class MemoryService:
    def __init__(self, tasks: MemoryTasks, nodes: MemoryNodes) -> None:
        self._tasks = tasks
        self._nodes = nodes

    async def work(self) -> int:
        """Tries every task that is due; how many were acknowledged."""
        done = 0
        for task in await self._tasks.due(limit=20):
            try:
                await self._nodes.delete(task.base_id)
            except MemoryRefused as refusal:
                logger.warning("memory nodes of knowledge base %s: %s", task.base_id, refusal)
                pause = min(LONGEST_PAUSE, 2.0 ** min(task.attempts, 16))
                await self._tasks.later(task.base_id, pause, str(refusal))
            else:
                await self._tasks.done(task.base_id)
                done += 1
        return done
