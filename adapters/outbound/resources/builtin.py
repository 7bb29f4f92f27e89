"""The resources that need no other service: `agent::echo` and `agent::kb-<id>`."""

import re
from dataclasses import dataclass

from adapters.outbound.resources.targets import Keys, Target
from domain.refusals import Invalid
from domain.routing.model import Resource, ResourceKind, RunRequest, RunResult
from domain.routing.resource import parse_resource
from ports.resources import Downstream, KnowledgeReader

_KNOWLEDGE_BASE = re.compile(r"kb-([0-9]{1,18})")


class Echo:
    """Answers with the text it got."""

    async def run(self, request: RunRequest) -> RunResult:
        return RunResult(request.text)


@dataclass(frozen=True, slots=True)
class KnowledgeBase:
    """Answers from one knowledge base, as far as the instance's owner may read it."""

    answers: KnowledgeReader
    base_id: int

    async def run(self, request: RunRequest) -> RunResult:
        return await self.answers.answer(request.owner, self.base_id, request.text)


def is_builtin(resource: Resource) -> bool:
    """Return True if the id names a built-in; they have no experts, so the expert index plays no part."""
    if resource.kind is not ResourceKind.AGENT:
        return False
    return resource.id == "echo" or _KNOWLEDGE_BASE.fullmatch(resource.id) is not None


def knowledge_base_of(resource: Resource) -> int | None:
    """The knowledge base that a built-in id names."""
    base = _KNOWLEDGE_BASE.fullmatch(resource.id) if is_builtin(resource) else None
    return int(base[1]) if base else None


@dataclass(frozen=True, slots=True)
class BuiltinTarget(Target):
    """A built-in resource under another id."""

    resource: Resource
    token: None = None

    @classmethod
    def read(cls, keys: Keys) -> "BuiltinTarget":
        try:
            resource = parse_resource(keys.text("use"))
        except Invalid:
            resource = None
        if resource is None or not is_builtin(resource):
            raise keys.fault("use", "must name a built-in, agent::echo or agent::kb-<number>")
        return cls(resource)

    @property
    def address(self) -> str:
        return str(self.resource)

    @property
    def bases(self) -> tuple[int, ...]:
        base_id = knowledge_base_of(self.resource)
        return () if base_id is None else (base_id,)


@dataclass(frozen=True, slots=True)
class Builtins:
    """Finds the built-in resource that an id names."""

    answers: KnowledgeReader

    def find(self, resource: Resource) -> Downstream | None:
        """None if the id names no built-in."""
        return self.get(resource) if is_builtin(resource) else None

    def get(self, resource: Resource) -> Downstream:
        """The built-in of an id for which `is_builtin` holds."""
        base = knowledge_base_of(resource)
        return Echo() if base is None else KnowledgeBase(self.answers, base)
