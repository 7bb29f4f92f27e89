"""Points at which a test has the service kill itself: each a method of an adapter, before or after its work.

Nothing of it is in the service: the launcher wraps the method in the process that it forked.
"""

import functools
import importlib
import os
import signal
import sys
from collections.abc import Callable
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
APPROVE = "domain.confirmations.approvers:ApproverService.decide"
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
