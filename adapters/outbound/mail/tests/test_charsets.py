"""Bytes of mails in charsets that are declared wrongly or not at all."""

import time

import pytest

from adapters.outbound.mail.charsets import decode_bytes

RUSSIAN = "Здравствуйте, где мой заказ номер 7?"
JAPANESE = "こんにちは。注文番号7はどこですか。"
CHINESE = "您好,我的订单在哪里?谢谢。"
KOREAN = "안녕하세요 주문 번호 7 어디 있나요"


@pytest.mark.parametrize(
    ("text", "charset", "declared"),
    [
        *((RUSSIAN, "windows-1251", declared) for declared in ("", "us-ascii", "utf-8", "iso-8859-1")),
        *((RUSSIAN, "koi8-r", declared) for declared in ("", "utf-8", "iso-8859-1")),
        (RUSSIAN, "iso-8859-5", ""),
        (JAPANESE, "iso-2022-jp", ""),
        (JAPANESE, "iso-2022-jp", "utf-8"),
        (JAPANESE, "euc-jp", ""),
        (JAPANESE, "shift_jis", ""),
        (CHINESE, "gb18030", ""),
        (CHINESE, "gb18030", "utf-8"),
        (KOREAN, "euc-kr", ""),
        ("Preis 5 für Köln", "iso-8859-1", ""),
        ("Προϊόν από Ελλάδα, πού είναι;", "windows-1253", ""),
        ("ÄÖÜ", "iso-8859-1", "iso-8859-1"),
        ("Grüße aus Köln", "utf-8", "iso-8859-1"),
    ],
)
def test_the_charset_is_found_in_the_bytes(text: str, charset: str, declared: str) -> None:
    assert decode_bytes(text.encode(charset), declared) == text


@pytest.mark.parametrize("declared", ["", "utf-8", "UTF-8"])
def test_a_part_in_another_charset_is_read_beside_the_rest(declared: str) -> None:
    mixed = "Köln « ".encode() + "für Grüße".encode("iso-8859-1") + b"\r\n" + "aus Köln".encode()
    assert decode_bytes(mixed, declared) == "Köln « für Grüße\r\naus Köln"


def test_damage_in_other_scripts_is_no_text_of_western_europe() -> None:
    assert decode_bytes("您好我的订单在哪里谢谢您好我的订单在哪里".encode()[:-1], "utf-8").endswith("\ufffd")


@pytest.mark.parametrize("data", [b"\xff" * 500_000, b"\xc3\xbc\xff" * 150_000, b"\x1b$B" * 150_000])
def test_hostile_bytes_take_no_long_time(data: bytes) -> None:
    began = time.process_time()
    decode_bytes(data, "utf-8")
    assert time.process_time() - began < 5
