"""Who decides about the use of a tool: the sender, a user, or a team. Pure."""

from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase

from domain import limits
from domain.refusals import Fault
from domain.values import value

SENDER = "sender"
USER, TEAM = "user:", "team:"
MOST_RULES = 50
MOST_MINUTES = 10_080
"""A week."""
SENDER_MINUTES, APPROVER_MINUTES = 10, 1440
"""How long a question is open: always for the sender, and for others if the rule says nothing else."""


@value
class ApprovalRule:
    """Somebody decides before a tool is used whose name the glob `tool` fits. `by`: `sender`, who wrote the message,
    `user:ID` or `team:ID`. `minutes`: how long a user or a team has, None for a day."""

    tool: str
    by: str = SENDER
    minutes: int | None = None


def rule_faults(field: str, rules: Sequence[ApprovalRule]) -> Iterator[Fault]:
    """Yields what is wrong with a policy, whether its users and teams exist aside."""
    if len(rules) > MOST_RULES:
        yield Fault(field, f"must be at most {MOST_RULES}")
    for at, rule in enumerate(rules[:MOST_RULES]):
        if fault := limits.text_fault(rule.tool, limits.KEY_NAME):
            yield Fault(f"{field}[{at}].tool", fault)
        elif not rule.tool.strip():
            yield Fault(f"{field}[{at}].tool", "must be the name of a tool, or a glob such as refund*")
        yield from approver_faults(f"{field}[{at}]", rule.by, rule.minutes)


def approver_faults(field: str, by: str, minutes: object) -> Iterator[Fault]:
    """Yields what is wrong with who decides, and within which time."""
    if not _is_approver(by):
        yield Fault(f"{field}.by", "must be sender, user:ID or team:ID")
    if minutes is None:
        return
    if not isinstance(minutes, int) or isinstance(minutes, bool) or not 1 <= minutes <= MOST_MINUTES:
        yield Fault(f"{field}.minutes", f"must be a whole number from 1 to {MOST_MINUTES}")
    elif by == SENDER:
        yield Fault(f"{field}.minutes", f"is for users and teams; the sender has {SENDER_MINUTES}")


def _is_approver(by: str) -> bool:
    if by.startswith(TEAM):
        return team_of(by) is not None
    name = by.removeprefix(USER)
    is_user = by.startswith(USER) and 0 < len(name) <= limits.USER_ID and name.isprintable()
    return by == SENDER or is_user


def team_of(by: str) -> int | None:
    """The id of the team that decides; None for anybody else."""
    text = by.removeprefix(TEAM)
    is_id = by.startswith(TEAM) and text.isascii() and text.isdigit() and len(text) < 19 and int(text) > 0
    return int(text) if is_id else None


def policy_json(policy: Sequence[ApprovalRule]) -> list[dict[str, object]]:
    """The rules as JSON objects, without empty fields."""
    return [
        {"tool": rule.tool, "by": rule.by, **({"minutes": rule.minutes} if rule.minutes else {})}
        for rule in policy
    ]


def rule_for(policy: Sequence[ApprovalRule], tool: str) -> ApprovalRule | None:
    """The first rule that fits the name of a tool; None where the policy says nothing of it."""
    return next((rule for rule in policy if fnmatchcase(tool, rule.tool)), None)


def is_by_sender(policy: Sequence[ApprovalRule], tool: str) -> bool:
    """Return True unless a policy has somebody else decide about a tool."""
    rule = rule_for(policy, tool)
    return rule is None or rule.by == SENDER


def strictest(*rules: ApprovalRule | None) -> ApprovalRule | None:
    """The rule that counts: one user before a team before the sender; of two alike the one that comes first."""
    known = [rule for rule in rules if rule is not None]
    return max(known, key=_strictness, default=None)


def _strictness(rule: ApprovalRule) -> int:
    return 2 if rule.by.startswith(USER) else 1 if rule.by.startswith(TEAM) else 0
