"""Words, identifiers and scripts."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.knowledge.words import MAX_WORD, mostly_outside_latin, words


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Error ERR-4711_b!", ["error", "err", "4711", "b"]),
        ("Müller, café, Straße, ﬁne", ["muller", "cafe", "strasse", "fine"]),
        ("Mu\u0308ller \uff2d\uff35", ["muller", "mu"]),
        ("日本語の本", ["日本", "本语", "语の", "の本"]),
        ("型番ABC12です", ["型番", "abc12", "です"]),
        ("國家標準", ["国家", "家标", "标准"]),
        ("国 家 标 准 GB 18030", ["国家", "家标", "标准", "gb", "18030"]),
        ("規\u3000格", ["规格"]),
        ("東京 大阪", ["东京", "大阪"]),
        ("그 책", ["그", "책"]),
        ("한국어 문서를", ["한국", "국어", "문서", "서를"]),
        ("العَرَبِيَّة", ["العربيه"]),
        ("हिन्दी भाषा", ["हिन्दी", "भाषा"]),
        ("مدرسة مدرسه المدرسةُ", ["مدرسه", "مدرسه", "المدرسه"]),
        ("أحمد إحمد آحمد احمد ٱحمد", ["احمد"] * 5),
        ("على علي مؤمن شيء كتـــاب", ["علي", "علي", "مومن", "شيء", "كتاب"]),
        ("\ufefc\ufe94 \ufedf\ufe8e", ["لاه", "لا"]),
        ("می‌خواهم کتابی گۆران", ["ميخواهم", "كتابي", "گۆران"]),
        ("لڑکی لڑکے بہائی بھائی", ["لڑكي", "لڑكے", "بهايي", "بھايي"]),
        ("٢٠٢٤ ۱۲ १२३", ["2024", "12", "123"]),
        ("", []),
        ("... --- !!!", []),
    ],
)
def test_words_of_every_script(text: str, expected: list[str]) -> None:
    assert words(text) == expected


def test_a_long_word_is_cut() -> None:
    assert words("a" * 100_000) == ["a" * MAX_WORD]


@pytest.mark.parametrize(
    ("text", "foreign"),
    [
        ("What is a kubelet?", False),
        ("Müller größer", False),
        ("Что такое поезд", True),
        ("ما هي عاصمة فرنسا", True),
        ("首都 is what", False),
        ("4711", False),
        ("", False),
    ],
)
def test_mostly_outside_latin(text: str, foreign: bool) -> None:
    assert mostly_outside_latin(text) is foreign


@given(st.text(max_size=300))
def test_words_hold_no_blank_and_survive_being_read_again(text: str) -> None:
    for word in words(text):
        assert word
        assert not any(char.isspace() for char in word)
        assert len(word) <= MAX_WORD
