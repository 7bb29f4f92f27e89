"""What a reply decides, and how a question reads. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from domain.channels.messages import Choice, ClosedPrompt
from domain.confirmations.choices import PREFIX
from domain.routing.model import APPROVED, APPROVED_FOR_SESSION, REJECTED

LIFE = timedelta(minutes=10)
SILENCE = timedelta(hours=24)
"""An approval for the session ends when the session has been silent for so long."""
KEPT = timedelta(days=7)
"""How long a question that was decided, discarded, replaced or that expired stays on record, for late presses."""

SHOWN = 600
"""Characters of one parameter that a question shows."""
SHOWN_PARAMETERS = 30
SHOWN_NAME = 100
"""Characters of the name of a person or a tool."""
BRIEF = 40
BRIEF_PARAMETERS = 10
"""What is shown of the parameters where all of them take more than one message."""

REPLIES = {
    **dict.fromkeys(("yes", "y", "approve", "ok", "1"), APPROVED),
    **dict.fromkeys(("always", "2"), APPROVED_FOR_SESSION),
    **dict.fromkeys(("no", "n", "reject", "cancel", "3"), REJECTED),
}

BUTTONS = (
    ("Approve", "1", APPROVED),
    ("Approve session", "2", APPROVED_FOR_SESSION),
    ("Reject", "3", REJECTED),
)

OUTCOMES = {
    APPROVED: "Approved",
    APPROVED_FOR_SESSION: "Approved for this session",
    REJECTED: "Rejected",
}
NOT_YOURS = "Only the person who was asked can decide this."
NO_LONGER_OPEN = "This question is no longer open."
ASKED_ELSEWHERE = "This question was asked in another conversation. Please decide it there."


def decision_of(text: str) -> str | None:
    """The decision that a typed reply makes, whatever its case and the space around it."""
    return REPLIES.get(text.strip().casefold())


def choices_of(nonce: str) -> tuple[Choice, ...]:
    """The buttons of a question; the nonce makes each good for this question alone."""
    return tuple(Choice(label, f"{PREFIX}{number}:{nonce}") for label, number, _ in BUTTONS)


def pressed(choice: str, nonce: str) -> str | None:
    """The decision that a pressed button makes, None for a button of another question."""
    for offered, (_, _, decision) in zip(choices_of(nonce), BUTTONS, strict=True):
        if offered.value == choice:
            return decision
    return None


def question(tool: str, parameters: Mapping[str, Any]) -> str:
    """The question in Markdown: the tool, its parameters, the three replies."""
    asked = f"The tool {_code(_cut(tool, SHOWN_NAME))} needs your approval."
    return "\n".join([asked, *_listed(parameters, SHOWN_PARAMETERS, SHOWN)]) + "\n\n" + ANSWERS


def closed(
    tool: str, parameters: Mapping[str, Any], decision: str | None = None, who: str = ""
) -> ClosedPrompt:
    """A question that is over: how it was decided and by whom, None where it was not; the tool, its parameters."""
    outcome = OUTCOMES[decision] if decision else NO_LONGER_OPEN
    by = f" by {_code(_cut(who, SHOWN_NAME))}" if decision and who.strip() else ""
    head = [f"**{outcome}**{by}", "", f"Tool: {_code(_cut(tool, SHOWN_NAME))}"]
    whole = [*head, *_listed(parameters, SHOWN_PARAMETERS, SHOWN)]
    brief = [*head, *_listed(parameters, BRIEF_PARAMETERS, BRIEF)]
    return ClosedPrompt("\n".join(whole), outcome, "\n".join(brief))


def _listed(parameters: Mapping[str, Any], count: int, size: int) -> list[str]:
    """The first parameters as lines of Markdown, names and values cut to `size` characters."""
    shown = list(parameters.items())[:count]
    lines = ["", "Parameters:", ""] if shown else []
    lines += [f"- {_code(_cut(str(name), size))}: {_code(_value(value, size))}" for name, value in shown]
    if left := len(parameters) - len(shown):
        lines.append(f"- and {left} more")
    return lines


ANSWERS = (
    "Please reply:\n\n"
    "1. **yes** to approve it this once\n"
    "2. **always** to approve it for this session\n"
    "3. **no** to reject it\n\n"
    "The question expires in 10 minutes."
)


def unclear(tool: str) -> str:
    """For an approval whose worker died after the resource had been called."""
    return (
        f"I was interrupted while {_code(tool)} was being used, and cannot tell whether it was carried out. It is"
        " not run a second time; please check, and ask again if need be."
    )


def _value(value: Any, size: int) -> str:
    return _cut(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False), size)


def _cut(text: str, size: int) -> str:
    return text if len(text) <= size else f"{text[:size]}… ({len(text)} characters)"


def _code(text: str) -> str:
    """A code span: nothing inside it is read as markup, and it stays on one line."""
    line = re.sub(r"\s*[\r\n\u2028\u2029]+\s*", " ⏎ ", text).strip() or " "
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", line)), default=0))
    pad = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{pad}{line}{pad}{fence}"
