"""Modals of Slack: what is told at their fields, and which forms fit."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from adapters.outbound.channels.workspace_chat import forms, webhook
from adapters.outbound.channels.workspace_chat.config import CONFIG, SlackTarget
from adapters.outbound.channels.workspace_chat.tests import samples
from domain.channels.rich import FieldType, Form, FormField

NOW = datetime(2026, 11, 28, 12, tzinfo=UTC)
FIELDS = [FormField(kind, kind, kind) for kind in FieldType if not kind.has_options]


def submitted(**entered: str | None) -> Any:
    """What Slack posts of a modal with these values, the others empty."""
    view = forms.view(Form("Title", tuple(FIELDS)), "form:out-1:abc", SlackTarget(channel="D0ADA"))
    inputs = [block for block in view["blocks"] if block["type"] == "input"]
    states = {
        block["block_id"]: {
            block["element"]["action_id"]: {
                "type": block["element"]["type"],
                "value": entered.get(block["block_id"]),
            }
        }
        for block in inputs
    }
    payload = {
        "type": "view_submission",
        "user": {"id": "U0ADA", "username": "ada"},
        "view": {"id": "V1", **view, "state": {"values": states}},
    }
    call = samples.as_posted("block_actions", payload, NOW)
    return webhook.receive(CONFIG.load(samples.CONFIG), call, {}, NOW)


def test_what_does_not_fit_is_told_at_its_field_while_the_modal_stays_open() -> None:
    received = submitted(number="many", phone="12", email="ada@example.org")
    answer = json.loads(received.answer.body)
    assert answer["response_action"] == "errors"
    assert set(answer["errors"]) == {"number", "phone"}
    assert "not a number" in answer["errors"]["number"]
    assert not received.events


def test_what_fits_closes_the_modal() -> None:
    received = submitted(number="3", phone="+43 1 234567", text="skip")
    assert received.answer.body == b""
    [event] = received.events
    assert event.form_input is not None
    assert event.form_input["number"] == "3"


@pytest.mark.parametrize("more", [{"min": 3001}, {"default": "x" * 3001}])
def test_texts_that_are_longer_than_slack_takes_are_asked_for_field_by_field(more: dict[str, Any]) -> None:
    config, target = CONFIG.load(samples.CONFIG), SlackTarget()
    assert not forms.shows_form(config, target, Form("Title", (FormField("name", "Label", **more),)))
    assert forms.shows_form(config, target, Form("Title", (FormField("name", "Label", max=9000),)))


def test_bounds_are_written_without_exponent() -> None:
    field = FormField("name", "Label", FieldType.NUMBER, min=1e-7, max=1e18, default=3.0)
    [block] = forms.view(Form("Title", (field,)), "form:out-1:abc", SlackTarget())["blocks"]
    element = block["element"]
    assert (element["min_value"], element["max_value"]) == ("0.0000001", "1000000000000000000")
    assert element["initial_value"] == "3"
