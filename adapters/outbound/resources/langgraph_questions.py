"""What an interrupted LangGraph thread waits for, and the values that resume it. Pure.

https://docs.langchain.com/oss/python/langchain/human-in-the-loop
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from adapters.outbound.resources.messages import BadAnswer, checked_confirmation
from adapters.outbound.resources.model_tools import REJECTED_BY_USER, UNDECIDED
from domain.channels.answers import Choice
from domain.conversations.choices import choice_faults
from domain.routing.model import Approval, Confirmation

MAX_ACTIONS = 20
"""Tools that one interrupt may ask for."""
_TEXTS = ("question", "message", "text", "prompt", "description")
_DEFAULT_DESCRIPTION = "\n\nTool: "
"""What the description of a tool holds that its author did not write: its name and arguments."""


@dataclass(frozen=True, slots=True)
class Action:
    """A tool that the thread wants to use. `options` are the decisions that may be made of it, in words of the form
    in which it was asked."""

    confirmation: Confirmation
    description: str
    options: frozenset[str]


@dataclass(frozen=True, slots=True)
class Question:
    """The first interrupt of a thread. With `actions` each is to be decided; else it is a `text` with `choices`,
    which the next message answers.

    `form` is "decisions" (LangChain's middleware), "responses" (a list of the older `HumanInterrupt`), "response"
    (one of them), or "text". `alone`: the thread has no other interrupt.
    """

    id: str
    form: str
    alone: bool
    actions: tuple[Action, ...] = ()
    text: str = ""
    choices: tuple[Choice, ...] = ()

    def answered(self, text: str, message: Mapping[str, Any]) -> dict[str, Any]:
        """The body of the run that resumes the thread with a text."""
        return self._resumed(text)

    def decided(self, permits: Sequence[bool]) -> dict[str, Any]:
        """The body for decisions about all the actions."""
        words = [
            self._answer(action, permit, REJECTED_BY_USER)
            for action, permit in zip(self.actions, permits, strict=True)
        ]
        return self._together(words)

    def undecided(self, text: str, message: Mapping[str, Any]) -> dict[str, Any]:
        """The body where the sender wrote something else: no tool is used, and the agent reads what was written."""
        reason = f"{UNDECIDED} They wrote instead: {text}" if text else UNDECIDED
        return self._together([self._answer(action, False, reason) for action in self.actions])

    def _together(self, words: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        if self.form == "decisions":
            return self._resumed({"decisions": list(words)})
        return self._resumed(list(words) if self.form == "responses" else words[0])

    def _resumed(self, value: Any) -> dict[str, Any]:
        """Of several interrupts the others stay open."""
        return {"command": {"resume": value if self.alone else {self.id: value}}}

    def _answer(self, action: Action, permit: bool, reason: str) -> dict[str, Any]:
        if self.form == "decisions":
            if permit:
                return {"type": "approve"}
            kind = "respond" if "reject" not in action.options and "respond" in action.options else "reject"
            return {"type": kind, "message": reason}
        if permit:
            return {"type": "accept", "args": None}
        is_told = "allow_respond" in action.options and reason != REJECTED_BY_USER
        if is_told or "allow_ignore" not in action.options:
            return {"type": "response", "args": reason}
        return {"type": "ignore", "args": None}


def question_of(interrupts: Any) -> Question | None:
    """The question in the first interrupt of a state; None without interrupts. Raises `BadAnswer`."""
    if not isinstance(interrupts, list) or not interrupts:
        return None
    first = interrupts[0]
    id = first.get("id") if isinstance(first, dict) else None
    if not isinstance(id, str) or not 0 < len(id) <= 256:
        raise BadAnswer("an interrupt of the thread has no id")
    value, alone = first.get("value"), len(interrupts) == 1
    form = _form(value)
    if form == "text":
        text, choices = _asked(value)
        return Question(id, form, alone, text=text, choices=choices)
    if form == "decisions":
        return Question(id, form, alone, _requests(value))
    requests = value if form == "responses" else [value]
    return Question(id, form, alone, tuple(_older(item) for item in few(requests)))


def _form(value: Any) -> str:
    """How an interrupt asks, by its value: see `Question`."""
    if isinstance(value, dict):
        if isinstance(value.get("action_requests"), list):
            return "decisions"
        return "response" if "action_request" in value else "text"
    is_list = isinstance(value, list) and value
    return "responses" if is_list and all(_form(item) == "response" for item in value) else "text"


def permits(action: Action, approval: Approval | None) -> bool | None:
    """The decision of a request about an action; None without one."""
    asked = action.confirmation
    if approval is None or not approval.is_about(asked.tool, asked.parameters):
        return None
    return approval.permits


def few(actions: list[Any]) -> list[Any]:
    """Raises `BadAnswer` for no actions, or too many."""
    if not 0 < len(actions) <= MAX_ACTIONS:
        raise BadAnswer(f"an interrupt asks for no tools, or for over {MAX_ACTIONS}")
    return actions


def _requests(value: Mapping[str, Any]) -> tuple[Action, ...]:
    configs = value.get("review_configs")
    options = {
        str(config.get("action_name")): frozenset(map(str, config["allowed_decisions"]))
        for config in (configs if isinstance(configs, list) else [])
        if isinstance(config, dict) and isinstance(config.get("allowed_decisions"), list)
    }
    actions = []
    for item in few(value["action_requests"]):
        if not isinstance(item, dict) or not isinstance(name := item.get("name", item.get("action")), str):
            raise BadAnswer("an action request of the interrupt has no name")
        confirmation = checked_confirmation(name, item.get("args", item.get("arguments")))
        actions.append(Action(confirmation, _own(item.get("description")), options.get(name, frozenset())))
    return tuple(actions)


def _older(item: Mapping[str, Any]) -> Action:
    request, config = item["action_request"], item.get("config")
    name = request.get("action") if isinstance(request, dict) else None
    if not isinstance(name, str):
        raise BadAnswer("the action_request of the interrupt has no action")
    arguments = request.get("args")
    if arguments is not None and not isinstance(arguments, dict):
        arguments = {"args": arguments}
    allowed = (
        frozenset(key for key, value in config.items() if value) if isinstance(config, dict) else frozenset()
    )
    return Action(checked_confirmation(name, arguments), _own(item.get("description")), allowed)


def _own(description: Any) -> str:
    """The description that the author of an agent wrote, empty for the default one."""
    if not isinstance(description, str) or _DEFAULT_DESCRIPTION in description:
        return ""
    return description.strip()


def _asked(value: Any) -> tuple[str, tuple[Choice, ...]]:
    """The text and choices of an interrupt that is no question about a tool."""
    if isinstance(value, str):
        return value, ()
    fields = value if isinstance(value, dict) else {}
    text = next((fields[name] for name in _TEXTS if isinstance(fields.get(name), str)), None)
    if text is None:
        return f"```json\n{json.dumps(value, ensure_ascii=False, indent=2)}\n```", ()
    options = fields.get("options", fields.get("choices"))
    choices = [_choice(option) for option in options] if isinstance(options, list) else []
    offered = tuple(choice for choice in choices if choice is not None)
    if any(choice_faults(offered)):
        return "\n".join([text, "", *(f"- {choice.label}" for choice in offered)]), ()
    return text, offered


def _choice(option: Any) -> Choice | None:
    if isinstance(option, dict):
        label, value = option.get("label", option.get("value")), option.get("value", option.get("label"))
        return Choice(str(label), str(value)) if label is not None else None
    return Choice(str(option), str(option)) if isinstance(option, str | int | float) else None
