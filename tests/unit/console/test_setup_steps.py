"""The set-up steps name this server's addresses, and say what works from where."""

from datetime import UTC, datetime

import pytest

from adapters.inbound.console.channel_setup import callback_address, is_public, steps_of, works_from_here
from domain.channels.model import ChannelDefinition, SetupInstructions
from domain.instances.model import Instance

AT = datetime(2026, 1, 1, tzinfo=UTC)
INSTANCE = Instance(5, "ann", "pigeon", "Bird", {}, None, AT, AT)


def definition(*steps: str, required: bool = True, without: str = "") -> ChannelDefinition:
    setup = SetupInstructions("Set up", steps, "https://example.com", required)
    return ChannelDefinition("pigeon", "Pigeon", "Flies", (), setup, without_public_address=without)


def test_the_callback_address_stands_in_the_steps() -> None:
    channel = definition("Enter {base_url}/api/agent/channels/pigeon/{instance_id}/webhook as URL.")
    address = callback_address("https://a.example/", channel, INSTANCE)
    assert address == "https://a.example/api/agent/channels/pigeon/5/webhook"
    assert steps_of(channel, address) == [f"Enter <code>{address}</code> as URL."]
    assert steps_of(channel, None) == ["Enter (the callback address, which the next page shows) as URL."]


def test_addresses_of_platforms_are_links_and_all_else_is_text() -> None:
    step = "Go to https://x.example/a?b=1, choose <b>'New'</b> (see https://y.example/doc)."
    (made,) = steps_of(definition(step), None)
    assert 'href="https://x.example/a?b=1"' in made
    assert 'href="https://y.example/doc"' in made
    assert "<b>" not in made


@pytest.mark.parametrize(
    ("address", "public"),
    [
        ("https://agents.example.com", True),
        ("http://agents.example.com", False),
        ("https://localhost:3011", False),
        ("https://box.local", False),
        ("https://box.lan", False),
        ("https://box.internal.", False),
        ("https://10.0.0.1", False),
        ("https://[::1]:3011", False),
        ("https://93.184.216.34", True),
        ("", False),
    ],
)
def test_public_addresses(address: str, public: bool) -> None:
    assert is_public(address) is public


def test_what_works_without_a_public_address() -> None:
    assert works_from_here(definition(required=False), "http://localhost")
    assert works_from_here(definition(without="It asks."), "http://localhost")
    assert not works_from_here(definition(), "http://localhost")
    assert works_from_here(definition(), "https://agents.example.com")
