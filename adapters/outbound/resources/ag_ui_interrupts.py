"""What an AG-UI agent waits for after a run, and the answers that resume it. Pure.

https://docs.ag-ui.com/concepts/interrupts
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from adapters.outbound.resources.langgraph_questions import Question, question_of
from adapters.outbound.resources.messages import BadAnswer, checked_confirmation, checked_result
from domain.channels.answers import Choice
from domain.confirmations.model import decision_of
from domain.conversations.choices import choice_faults
from domain.json_text import loads
from domain.routing.model import APPROVED, REJECTED, Approval, RunResult

MAX_INTERRUPTS = 20
MAX_SCHEMA = 15_000
"""Characters of the schemas and parameters of all interrupts as JSON."""
CANCELLED: Mapping[str, Any] = {"status": "cancelled"}
ON_INTERRUPT = "on_interrupt"
"""The reason of an interrupt that comes as an event CUSTOM of this name, as those of `ag-ui-langgraph` do. Its schema
holds the value of the event, which is that of LangGraph's own interrupt."""
_TOOL_CALL, _CONFIRMATION = "tool_call", "confirmation"
_YES_NO = (Choice("Yes", "yes"), Choice("No", "no"))


@dataclass(frozen=True, slots=True)
class Interrupt:
    """Something that a run needs. `tool` and `parameters` are those of the tool call that it is about, empty for
    other questions; `schema` is the JSON Schema of the answer."""

    id: str
    reason: str
    text: str
    tool: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)
    schema: Mapping[str, Any] = field(default_factory=dict)
    expires_at: str = ""

    def json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def is_decision(self) -> bool:
        return bool(self.tool) or self.reason in (_TOOL_CALL, _CONFIRMATION)

    def has_expired(self) -> bool:
        try:
            moment = datetime.fromisoformat(self.expires_at)
        except ValueError:
            return False
        return moment.tzinfo is not None and moment <= datetime.now(UTC)

    def asked(self, before: RunResult) -> RunResult:
        """The question, after what the agent said `before`. Raises `BadAnswer`."""
        if self.tool:
            return checked_result(
                replace(before, confirmation=checked_confirmation(self.tool, dict(self.parameters)))
            )
        text = "\n\n".join(
            filter(None, (before.text, self.text or f"The agent asks for an answer: {self.reason}"))
        )
        if self.reason == ON_INTERRUPT:
            return checked_result(replace(before, text=text, choices=_question(self.schema["value"]).choices))
        choices = _YES_NO if self.is_decision else tuple(Choice(value, value) for value in self._values())
        if any(choice_faults(choices)):
            text = "\n".join([text, "", *(f"- {choice.label}" for choice in choices)])
            choices = ()
        return checked_result(replace(before, text=text, choices=choices))

    def answer(self, text: str, approval: Approval | None) -> Mapping[str, Any] | None:
        """The status and payload for a message; None if it decides nothing."""
        if self.tool:
            if approval is None or not approval.is_about(self.tool, dict(self.parameters)):
                return None
            return {"status": "resolved", "payload": self._decided(approval.permits)}
        if self.is_decision:
            decision = decision_of(text)
            if decision not in (APPROVED, REJECTED):
                return None
            return {"status": "resolved", "payload": self._decided(decision == APPROVED)}
        return {"status": "resolved", "payload": self._filled(text)}

    def _decided(self, permits: bool) -> Any:
        """true or false, or an object with it in the first property of that type."""
        name = self._property("boolean")
        if self.schema.get("type") == "boolean" or (not name and self.reason == _CONFIRMATION):
            return permits
        return {name or "approved": permits}

    def _filled(self, text: str) -> Any:
        """The text as the schema wants it: as it is, as a number, as a JSON object, or in a property of an object."""
        if self.schema.get("type") in ("number", "integer", "boolean"):
            return _read(text, text)
        if not self._properties():
            return text
        value = _read(text, None)
        return (
            value
            if isinstance(value, dict)
            else {self._property("string") or next(iter(self._properties())): text}
        )

    def _properties(self) -> Mapping[str, Any]:
        properties = self.schema.get("properties")
        return properties if isinstance(properties, dict) else {}

    def _property(self, kind: str) -> str:
        typed = (
            name
            for name, part in self._properties().items()
            if isinstance(part, dict) and part.get("type") == kind
        )
        return next(typed, "")

    def _values(self) -> list[str]:
        """The texts that the answer may be."""
        part = self._properties().get(self._property("string"), self.schema)
        values = part.get("enum") if isinstance(part, dict) else None
        return [value for value in values if isinstance(value, str)] if isinstance(values, list) else []


def interrupts_of(outcome: Any, calls: Mapping[str, tuple[str, str]]) -> tuple[Interrupt, ...]:
    """The interrupts of the outcome of a run. `calls` are the tools and arguments of tool calls by id.

    Raises `BadAnswer`.
    """
    if len(outcome.interrupts) > MAX_INTERRUPTS:
        raise BadAnswer(f"the run has over {MAX_INTERRUPTS} interrupts")
    return _bounded(tuple(_interrupt(item, calls) for item in outcome.interrupts))


def custom_interrupts(value: Any) -> tuple[Interrupt, ...]:
    """The interrupts in the value of an event `ON_INTERRUPT`: one for each tool that is asked for.

    Raises `BadAnswer`.
    """
    value = _read(value, value) if isinstance(value, str) else value
    question, schema = _question(value), {"value": value}
    if not question.actions:
        return _bounded((Interrupt(ON_INTERRUPT, ON_INTERRUPT, question.text, schema=schema),))
    actions = [(action.description, action.confirmation) for action in question.actions]
    return _bounded(
        tuple(
            Interrupt(ON_INTERRUPT, ON_INTERRUPT, text, asked.tool, asked.parameters, schema)
            for text, asked in actions
        )
    )


def command_of(
    interrupts: Sequence[Interrupt], answers: Sequence[Mapping[str, Any]], text: str
) -> Mapping[str, Any]:
    """The `command` that answers interrupts of `ON_INTERRUPT`; `text` is what the sender wrote, where an answer is
    missing."""
    question = _question(interrupts[0].schema["value"])
    if not question.actions:
        return question.answered(answers[0]["payload"] if answers else text, {})
    if len(answers) < len(interrupts):
        return question.undecided(text, {})
    return question.decided([answer["payload"]["approved"] for answer in answers])


def _question(value: Any) -> Question:
    question = question_of([{"id": ON_INTERRUPT, "value": value}])
    if question is None:
        raise BadAnswer("an interrupt asks nothing")
    return question


def _bounded(interrupts: tuple[Interrupt, ...]) -> tuple[Interrupt, ...]:
    if len(json.dumps([interrupt.json() for interrupt in interrupts], ensure_ascii=False)) > MAX_SCHEMA:
        raise BadAnswer(f"the interrupts of the run have over {MAX_SCHEMA} characters")
    return interrupts


def _interrupt(item: Any, calls: Mapping[str, tuple[str, str]]) -> Interrupt:
    tool, arguments = calls.get(item.tool_call_id or "", ("", ""))
    parameters = _read(arguments or "{}", {})
    return Interrupt(
        item.id,
        item.reason,
        item.message or "",
        tool,
        parameters if isinstance(parameters, dict) else {},
        item.response_schema or {},
        item.expires_at or "",
    )


def _read(text: str, default: Any) -> Any:
    try:
        return loads(text)
    except ValueError:
        return default
