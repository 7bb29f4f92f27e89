"""Buttons that users decide by."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from domain.confirmations.requests import (
    ApprovalRequest,
    buttons,
    outcome_for_sender,
    pressed,
    recipient_of,
    written_choice,
)
from domain.routing.model import APPROVED, REJECTED

NOW = datetime(2026, 11, 28, 9, tzinfo=UTC)
REQUEST = ApprovalRequest(
    id=10**18 - 1,
    instance_id=1,
    session_id="s",
    inbox_id=1,
    request_id="r",
    resource="agent::shop_0",
    tool="refund",
    parameters={},
    approver="team:3",
    sender="Ada",
    original="money back",
    asked_at=NOW,
    expires_at=NOW + timedelta(days=1),
    secret="0815",
)


def test_a_button_tells_request_decision_and_for_whom_it_was_made() -> None:
    approve, reject = buttons(REQUEST, "eve")
    assert all(len(choice.value) <= 64 for choice in (approve, reject))
    for choice, decision in ((approve, APPROVED), (reject, REJECTED)):
        button = pressed(choice.value)
        assert button is not None
        assert (button.approval_id, button.decision) == (REQUEST.id, decision)
        assert recipient_of(button, REQUEST, ["bob", "eve"]) == "eve"
        assert recipient_of(button, REQUEST, ["bob"]) is None
        assert recipient_of(button, replace(REQUEST, id=1), ["eve"]) is None
        assert recipient_of(button, replace(REQUEST, secret="0816"), ["eve"]) is None


def test_other_values_are_no_such_buttons() -> None:
    proof = "a" * 24
    for value in (
        f"approval:2:1.{proof}", f"approval:1:x.{proof}", f"approval:1:{proof}", f"approval:1:1.{proof}\n",
        f"approval:1:{'9' * 19}.{proof}", "approval:1:1.xyz", "choice:out-1:1:a", "",
    ):  # fmt: skip
        assert pressed(value) is None


def test_a_written_reply_stands_for_a_button() -> None:
    choices = buttons(REQUEST, "eve")
    assert written_choice(choices, "Yes") == choices[0]
    assert written_choice(choices, "reject") == choices[1]
    assert written_choice(choices, "always") is None
    assert written_choice((), "yes") is None
    assert written_choice((replace(choices[0], value="other"), choices[1]), "yes") is None


def test_what_the_sender_is_told() -> None:
    approved = replace(REQUEST, decision=APPROVED, decided_by="eve", reason="It came back.")
    assert outcome_for_sender(approved) == "The tool `refund` was approved. It came back."
    assert outcome_for_sender(replace(approved, decision=REJECTED, reason="")) == (
        "The tool `refund` was not approved."
    )
    assert "Nobody decided in time" in outcome_for_sender(replace(REQUEST, decision=REJECTED))
