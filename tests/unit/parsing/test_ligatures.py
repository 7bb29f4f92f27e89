"""Letters that one glyph shows together."""

from adapters.outbound.knowledge.parsing.pdf.letters import in_order, plain, runs_from_right

ALEF = "\u0627"


def drawn(*glyphs: str) -> tuple[str, list[tuple[float, float]]]:
    """The text of glyphs and the place of each of its letters; a glyph of several letters is one place."""
    places = [(float(number), number + 1.0) for number, glyph in enumerate(glyphs) for _ in glyph]
    return "".join(glyphs), places


def mended(*glyphs: str) -> str:
    text, places = drawn(*glyphs)
    return in_order(text, places.__getitem__)


def test_lam_and_alef_that_were_turned_are_turned_back() -> None:
    assert mended("س", "ال", "م") == "سلام"
    assert mended(ALEF, "أل", "م", "ر") == "الأمر"


def test_the_article_of_two_glyphs_stays() -> None:
    assert mended(ALEF, "ل", "ك", "ت", ALEF, "ب") == "الكتاب"


def test_other_ligatures_are_turned_with_them() -> None:
    assert mended(ALEF, "مل", "د", " ", "س", "ال", "م") == "المد سلام"
    assert mended(ALEF, "لم", "د") == "المد"


def test_ligatures_in_the_right_order_stay() -> None:
    assert mended("س", "لا", "م", " ", ALEF, "لم", "د") == "سلام المد"


def test_forms_become_letters() -> None:
    assert plain("\ufeb3\ufefc\ufee1 \ufb01nd \ufb03 \ufb2a") == "سلام find ffi ש\u05c1"
    assert plain("plain text, “quoted”") == "plain text, “quoted”"


def test_which_texts_run_from_the_right() -> None:
    assert runs_from_right("2024 سلام")
    assert runs_from_right("שלום")
    assert not runs_from_right("naïve “quotes” 日本")
