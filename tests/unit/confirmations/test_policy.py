"""Which rule of an approval policy counts."""

import pytest

from domain.confirmations.model import first_line
from domain.confirmations.policy import ApprovalRule, rule_faults, rule_for, strictest
from domain.routing.model import Confirmation

SENDER, TEAM, USER = (ApprovalRule("*", by) for by in ("sender", "team:3", "user:eve"))


def test_the_first_rule_that_fits_the_tool_counts() -> None:
    policy = (ApprovalRule("refund_small", "sender"), ApprovalRule("refund*", "team:3"))
    assert rule_for(policy, "refund_small") == policy[0]
    assert rule_for(policy, "refund") == policy[1]
    assert rule_for(policy, "Refund") is None


@pytest.mark.parametrize(
    ("rules", "counts"),
    [
        ((SENDER, TEAM), TEAM),
        ((TEAM, USER), USER),
        ((USER, ApprovalRule("*", "user:bob")), USER),
        ((None, SENDER), SENDER),
        ((None, None), None),
    ],
)
def test_a_user_is_stricter_than_a_team_and_a_team_than_the_sender(
    rules: tuple[ApprovalRule | None, ...], counts: ApprovalRule | None
) -> None:
    assert strictest(*rules) == counts


def test_the_time_goes_with_the_rule_that_counts() -> None:
    asked = Confirmation("refund", {}, "team:3", 5)
    assert asked.under([ApprovalRule("refund", "user:eve", 60)]).minutes == 60
    assert asked.under([ApprovalRule("refund", "sender")]) == asked
    assert asked.under([ApprovalRule("other", "user:eve")]) == asked


@pytest.mark.parametrize(
    "by",
    [
        "",
        "boss",
        "team",
        "team:",
        "team:0",
        "team:-1",
        "team:x",
        "team:٣",
        "team:" + "9" * 19,
        "user:",
        "user:a\n",
    ],
)
def test_what_names_nobody_is_refused(by: str) -> None:
    assert [fault.field for fault in rule_faults("approvalPolicy", [ApprovalRule("*", by)])] == [
        "approvalPolicy[0].by"
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("Yes.", "Yes"),
        ("\n\n  Approve!\n\nBest regards,\nEve", "Approve"),
        ("«ok», thank you", "ok», thank you"),
        ("> yes", "yes"),
        ("", ""),
        ("...", ""),
    ],
)
def test_the_first_line_loses_its_punctuation(text: str, line: str) -> None:
    assert first_line(text) == line


def test_hostile_texts_come_to_an_end() -> None:
    assert first_line("!" * 1_000_000 + "a") == ""
    assert rule_for([ApprovalRule("*a" * 120 + "b", "sender")], "a" * 256) is None
