"""What is missing when a call cannot be proved."""

from domain.channels.model import missing_proof


def test_a_config_field_or_a_header_is_named() -> None:
    assert missing_proof("appSecret") == "config.appSecret is not set"
    assert missing_proof("X-Twilio-Signature") == "the header X-Twilio-Signature did not come"
