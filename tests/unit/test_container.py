"""The composition root, as far as it stands without a database."""

from __future__ import annotations

from apps.container import Container
from apps.settings import load


def test_channels_get_the_addresses_of_the_settings() -> None:
    settings = load({"MAIL_API_URL": "https://mail.example/"}, None)
    kit = Container(settings=settings, dsn="", solitary=True).kit()
    assert kit.address("MAIL_API_URL") == "https://mail.example"
    assert kit.address("SMS_PROVIDER_API_URL") == "https://api.twilio.com"
