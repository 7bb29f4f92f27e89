"""Tells the buttons of our own prompts from buttons that someone else sent in the bot's name. Pure."""

from __future__ import annotations

PREFIX = "approval:"
"""What the value of every choice of a prompt begins with; at most 64 bytes in all."""


def is_approval(choice: str) -> bool:
    """Whether a pressed button belongs to a prompt of ours, pending or not.

    Any other button says something to the resource: its event is a message like any other.
    """
    return choice.startswith(PREFIX)


def nonce_of(choice: str) -> str:
    """The nonce in the value of a button of ours, empty where it has none."""
    return choice.removeprefix(PREFIX).partition(":")[2]
