"""Faults of bodies over REST are told in plain words."""

from typing import Any

import pytest
from pydantic import ValidationError

from adapters.inbound.rest.agents import AgentBody
from adapters.inbound.rest.errors import fault_text
from adapters.inbound.rest.instances import RouteConditionToSave


@pytest.mark.parametrize(
    ("group", "in_group", "groups"),
    [
        (None, None, ()),
        (True, True, ()),
        (False, False, ()),
        ("sales", None, ("sales",)),
        (["a", "b"], None, ("a", "b")),
    ],
)
def test_a_flag_a_name_or_names(group: Any, in_group: bool | None, groups: tuple[str, ...]) -> None:
    condition = RouteConditionToSave.model_validate({"group": group}).value()
    assert (condition.in_group, condition.groups) == (in_group, groups)


@pytest.mark.parametrize("group", [5, [5], {"id": "a"}, ["a", None], "a\0", ["a", "\ud800"]])
def test_anything_else_has_one_fault_in_plain_words(group: Any) -> None:
    with pytest.raises(ValidationError) as refused:
        RouteConditionToSave.model_validate({"group": group})
    [fault] = refused.value.errors()
    assert fault["loc"] == ("group",)
    assert fault["msg"].startswith("Value error, must ")


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ({"name": "x" * 201}, "name: must have at most 200 characters"),
        ({"knowledge": [1] * 21}, "knowledge: must have at most 20 entries"),
        (
            {"prices": {"input": 1, "output": 1, "currency": "EURO"}},
            "prices.currency: must have at most 3 characters",
        ),
    ],
)
def test_a_value_that_is_too_long_is_told_with_its_unit(body: Any, told: str) -> None:
    with pytest.raises(ValidationError) as refused:
        AgentBody.model_validate(body)
    [fault] = refused.value.errors()
    assert fault_text({**fault, "loc": ("body", *fault["loc"])}) == told
