"""Event loops that run in threads of their own."""

import asyncio
import threading


def end_loop(loop: asyncio.AbstractEventLoop, thread: threading.Thread) -> None:
    """Ends a loop with all that still runs in it, as `asyncio.run` does, so that nothing is left to be collected."""
    asyncio.run_coroutine_threadsafe(_end_all(loop), loop).result(60)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


async def _end_all(loop: asyncio.AbstractEventLoop) -> None:
    rest = asyncio.all_tasks(loop) - {asyncio.current_task(loop)}
    for task in rest:
        task.cancel()
    await asyncio.gather(*rest, return_exceptions=True)
    await loop.shutdown_asyncgens()
    await loop.shutdown_default_executor()
