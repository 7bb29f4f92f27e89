"""Renders answers and sends them: https://zulip.com/api/send-message."""

from __future__ import annotations

__all__ = ["Delivery", "limits"]
