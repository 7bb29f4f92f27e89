"""Points at which a test has the service kill itself: each a method of an adapter, before or after its work.

Nothing of it is in the service: this program wraps the methods in its own process, forks (so that the imports
are paid once), and runs `switchboard up` in the child. It reads one line of JSON for each run,
`{"stage", "settings", "log"}`, and writes one when the child has started and one with its exit status.
Run as: python -m tests.support.failpoints
"""

import functools
import importlib
import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NoReturn

STORAGE = "adapters.outbound.storage"
INBOX = f"{STORAGE}.queue.inbox:PostgresInbox.flush"
WORK = "domain.routing.service:ConversationService.work"
OUTCOME = f"{STORAGE}.queue.conversations:PostgresConversations.flush"
DELIVERY = "domain.delivery.service:DeliveryService.work"
MARK = f"{STORAGE}.queue.outbox:PostgresOutbox.sent"
CALL = "adapters.outbound.resources.http_runner:HttpRunner.run"
TOOL = "adapters.outbound.resources.chat_model:call_tool"
ASK = f"{STORAGE}.confirmations:PostgresConfirmations.put"
DECIDE = f"{STORAGE}.confirmations:PostgresConfirmations.decide"
SEND = f"{STORAGE}.queue.sends:PostgresSends.add"
BEGIN = f"{STORAGE}.confirmations:PostgresConfirmations.begin"


@dataclass(frozen=True, slots=True)
class Stage:
    """`place` is `module:Class.method` or `module:function`, a coroutine function; `after` its work or before.

    The process dies there when the arguments or the result speak of `about`.
    """

    place: str
    after: bool
    about: str

    def line(self) -> dict[str, Any]:
        return {"place": self.place, "after": self.after, "about": self.about}


def arm(stage: Stage) -> None:
    """Wraps the method of the stage. Raises `AttributeError` when there is none of that name."""
    module_name, _, path = stage.place.partition(":")
    module = importlib.import_module(module_name)
    *outer, name = path.split(".")
    owner: Any = functools.reduce(getattr, outer, module)
    inner = getattr(owner, name)

    async def deadly(*arguments: Any, **named: Any) -> Any:
        if not stage.after and stage.about in repr((arguments, named)):
            _die()
        result = await inner(*arguments, **named)
        if stage.after and stage.about in repr((arguments, named, result)):
            _die()
        return result

    for user in [owner, *_importers(inner)]:
        setattr(user, name, functools.wraps(inner)(deadly))


def _importers(function: Callable[..., Any]) -> list[Any]:
    """The modules that took a function by its name."""
    modules = [module for module in sys.modules.values() if module is not None]
    return [each for each in modules if each.__dict__.get(getattr(function, "__name__", "")) is function]


def _die() -> NoReturn:
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError("alive after SIGKILL")


def main() -> None:
    for imported_late in (
        "apps.processes.standalone",
        "apps.cli",
        "fakeredis.aioredis",
        "uvicorn.protocols.http.httptools_impl",
    ):
        importlib.import_module(imported_late)
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if not child:
            os._exit(_run(order))
        print(json.dumps({"pid": child}), flush=True)
        _, status = os.waitpid(child, 0)
        print(json.dumps({"status": os.waitstatus_to_exitcode(status)}), flush=True)


def _run(order: Mapping[str, Any]) -> int:
    from apps.cli import main as switchboard

    log = os.open(order["log"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.setsid()
    os.environ.clear()
    os.environ.update(order["settings"])
    if order["stage"]:
        arm(Stage(**order["stage"]))
    return switchboard(["up"])


if __name__ == "__main__":
    main()
