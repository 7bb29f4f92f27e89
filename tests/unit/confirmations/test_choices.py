"""Which buttons are ours."""

from __future__ import annotations

import pytest

from domain.confirmations.choices import PREFIX, is_approval


@pytest.mark.parametrize(
    ("choice", "ours"),
    [(f"{PREFIX}n0nce:approved", True), ("click_one", False), ("", False), (f" {PREFIX}", False)],
)
def test_only_choices_of_prompts_are_ours(choice: str, *, ours: bool) -> None:
    assert is_approval(choice) is ours
