"""What is kept and told of a platform's answer has a limit, whatever the platform says."""

from adapters.outbound.storage.codec import LONGEST_REASON, storable_reason
from ports.capabilities import LONGEST_DETAIL, PlatformError


def test_only_the_beginning_of_a_reason_is_kept() -> None:
    assert storable_reason("HTTP 400: " + "x" * 1_000_000) == "HTTP 400: " + "x" * (LONGEST_REASON - 10)
    assert storable_reason("no\0 \ud83d") == "no \ufffd"


def test_only_the_beginning_of_a_platforms_words_is_told() -> None:
    assert str(PlatformError("Telegram: " + "x" * 1_000_000)) == "Telegram: " + "x" * (LONGEST_DETAIL - 10)
