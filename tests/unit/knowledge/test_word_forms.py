"""Other forms of a query's words in a base's vocabulary."""

import pytest

from adapters.outbound.storage.knowledge.vocabulary import (
    ARTICLE_PART,
    PART,
    beginnings,
    forms_of,
    languages,
    languages_of_base,
    may_have_forms,
)
from domain.knowledge.words import normalise


@pytest.mark.parametrize(
    ("text", "shown"),
    [("what is the pump", ("english",)), ("wie ist die pumpe", ("german",)), ("die pumpe", ()), ("pump", ())],
)
def test_languages_of_a_query_are_told_by_function_words(text: str, shown: tuple[str, ...]) -> None:
    assert languages(text.split()) == shown


@pytest.mark.parametrize(
    ("frequency", "shown"),
    [
        ({"der": 60, "und": 50, "the": 3}, ("german",)),
        ({"the": 60, "and": 60, "der": 40, "die": 40}, ("english", "german")),
        ({"der": 60, "und": 9}, ()),
        ({}, ()),
    ],
)
def test_languages_of_a_base_are_told_by_words_of_every_tenth_chunk(
    frequency: dict[str, int], shown: tuple[str, ...]
) -> None:
    assert languages_of_base(frequency, 100) == shown


@pytest.mark.parametrize(
    ("word", "language", "term", "part"),
    [
        ("pumps", "english", "pump", PART),
        ("happiness", "english", "happy", PART),
        ("studies", "english", "study", PART),
        ("wartungen", "german", "wartung", PART),
        ("bucher", "german", "buch", PART),
        ("насосы", "", "насос", PART),
        ("مدرسه", "", "المدرسه", ARTICLE_PART),
        ("المدرسه", "", "وبالمدرسه", ARTICLE_PART),
        ("معلمون", "", "المعلمين", PART),
        ("pump", "english", "pumice", 0),
        ("pumps", "", "pump", 0),
    ],
)
def test_forms_are_found_where_the_vocabulary_begins_with_the_stem(
    word: str, language: str, term: str, part: float
) -> None:
    spoken = [language] if language else []
    assert forms_of(word, {term: 1, word: 5}, spoken) == ({term: part} if part else {})
    if part:
        assert any(term.startswith(beginning) for beginning in beginnings(word, spoken))


NOUNS = (
    "كتاب", "باب", "بيت", "بنك", "بريد", "بلد", "برنامج", "بطاقة", "كرسي", "كلب", "كهرباء", "كمبيوتر", "كلمة",
    "وزارة", "ورقة", "وقت", "وثيقة", "وظيفة", "ولاية", "فندق", "فاتورة", "فريق", "فكرة", "فيلم", "لغة", "لون",
    "لوحة", "لجنة", "لقاء", "مدرسة", "سيارة", "شركة", "طلب", "عقد", "موظف", "هاتف", "حساب", "رقم", "مضخة", "صمام",
    "الماس", "كالسيوم", "والد", "فالق",
)  # fmt: skip
"""Common nouns, many of which begin with a letter or letters that are a prefix elsewhere."""


@pytest.mark.parametrize("prefix", ["ال", "وال", "بال", "و"])
def test_an_arabic_noun_is_found_with_and_without_its_article(prefix: str) -> None:
    lost = []
    for noun in map(normalise, NOUNS):
        with_prefix = prefix + noun
        for word, term in ((noun, with_prefix), (with_prefix, noun)):
            is_reached = any(term.startswith(beginning) for beginning in beginnings(word, ()))
            if not is_reached or forms_of(word, {term: 1}, ()) != {term: ARTICLE_PART}:
                lost.append((word, term))

    assert lost == []


def test_function_words_and_numbers_have_no_other_forms() -> None:
    assert not any(map(may_have_forms, ["the", "4711", "e4", "a", "в"]))
    assert may_have_forms("pumps")
