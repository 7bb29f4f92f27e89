"""Words of a text as they are indexed, and the function words that say nothing about a subject."""

import re
import unicodedata
from collections.abc import Iterator

from domain.knowledge.chinese import SIMPLIFIED

MAX_WORD = 40
"""Longer words are cut: nobody types them whole, and a dictionary should not keep them whole."""

_ACCENTS = re.compile("[\u0300-\u036f]")
_ARABIC_MARKS = re.compile(
    "[\u0610-\u061a\u0640\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed\u200c\u200d]"
)
# Vowel signs and other marks of Hebrew, Indic, Thai and Lao script belong to the word they stand in.
_MARKS = (
    r"\u0591-\u05c7\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09cd\u0a01-\u0a03"
    r"\u0a3c-\u0a4d\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b4d\u0b82\u0bbe-\u0bcd\u0c00-\u0c04"
    r"\u0c3e-\u0c56\u0c81-\u0c83\u0cbc-\u0ccd\u0d00-\u0d03\u0d3b-\u0d4d\u0d81-\u0d83\u0dca-\u0ddf"
    r"\u0e31\u0e34-\u0e3a\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u102b-\u103e\u17b4-\u17d3"
)
_WORD = re.compile(rf"(?:[^\W_]|[{_MARKS}])+")
# Scripts written without spaces between words: Thai, Lao, Myanmar, Khmer, Han, Kana, Bopomofo; and Hangul, where
# particles are written onto the word.
_UNSPACED = re.compile(
    "[\u0e00-\u0e7f\u0e80-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3105-\u312f"
    "\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uf900-\ufaff\U00020000-\U000323af]+"
)

_WRITTEN = re.compile(rf"(?:[^\W_]|[{_MARKS}{_ACCENTS.pattern[1:-1]}{_ARABIC_MARKS.pattern[1:-1]}])+")
"""A word before its accents and marks are folded."""
_JOINED = re.compile(r"[^\W_]+(?:[-./_]{1,2}[^\W_]+)*")
"""A word, or a code in one piece."""

_OTHER_DIGITS = re.compile(r"[^\D0-9]")
# Letters written one for another: alef maqsura and the Persian yeh are yeh, the Persian kaf is kaf; ta marbuta, heh
# goal and ae are heh; alef wasla is alef. Those of Urdu that tell words apart stay.
_ARABIC_LETTERS = str.maketrans(
    "\u0649\u06cc\u06a9\u0629\u06c1\u06d5\u0671", "\u064a\u064a\u0643\u0647\u0647\u0647\u0627"
)


_CHINESE = "\u2e80-\u2fdf\u3005-\u3007\u3040-\u30ff\u3105-\u312f\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
"""Chinese and Japanese, which are written without blanks."""
_SPREAD = re.compile(
    rf"(?<![{_CHINESE}])[{_CHINESE}](?:[ \t\u3000\u00a0]{{1,2}}[{_CHINESE}])+(?![{_CHINESE}])"
)
"""Characters with blanks between all of them, as they are set in headings and come out of some PDFs."""


def normalise(text: str) -> str:
    """Compatibility forms, accents, digits and case folded: 'Müller' and 'MULLER' are the same word. Of Arabic the
    marks, the hamza and letters that are written one for another: 'مدرسة' and 'مدرسه' are the same word. Traditional
    Chinese as simplified, without the blanks between characters that are set wide."""
    if text.isascii():
        return text.lower()
    return _SPREAD.sub(lambda spread: "".join(spread[0].split()), normalise_2(text)).translate(SIMPLIFIED)


def normalise_2(text: str) -> str:
    """The normal form in indexes of version 2."""
    if text.isascii():
        return text.lower()
    bare = _ARABIC_MARKS.sub("", _ACCENTS.sub("", unicodedata.normalize("NFKD", text.lower())))
    folded = unicodedata.normalize("NFC", bare).casefold().translate(_ARABIC_LETTERS)
    return _OTHER_DIGITS.sub(lambda digit: str(unicodedata.digit(digit[0])), folded)


def normalise_1(text: str) -> str:
    """The normal form in indexes of version 1."""
    if text.isascii():
        return text.lower()
    folded = _ACCENTS.sub("", unicodedata.normalize("NFKD", text.lower()))
    return _ARABIC_MARKS.sub("", unicodedata.normalize("NFC", folded)).casefold()


def words_as_written(text: str) -> set[str]:
    """The words of a text with their accents and marks, in lower case, codes also whole: 'café' and 'cafe' are two,
    and so are 'asn1_der_decoding' and 'asn1_der_decoding_startEnd'."""
    written = unicodedata.normalize("NFC", text.lower())
    return {*_WRITTEN.findall(written), *(code for code in _JOINED.findall(written) if not code.isalnum())}


def words(text: str) -> list[str]:
    """The words of a text in order; runs of unspaced script as overlapping pairs of characters."""
    return words_of_folded(normalise(text))


def words_of_folded(folded: str) -> list[str]:
    matches = _WORD.findall(folded)
    if folded.isascii():
        return [word[:MAX_WORD] for word in matches]
    result: list[str] = []
    for word in matches:
        if word.isascii():
            result.append(word[:MAX_WORD])
        else:
            result.extend(_split_unspaced(word))
    return result


def _split_unspaced(word: str) -> list[str]:
    if not _UNSPACED.search(word):
        return [word[:MAX_WORD]]
    parts: list[str] = []
    end = 0
    for run in _UNSPACED.finditer(word):
        if run.start() > end:
            parts.append(word[end : run.start()][:MAX_WORD])
        characters = run.group()
        parts += [characters[i : i + 2] for i in range(len(characters) - 1)] or [characters]
        end = run.end()
    if end < len(word):
        parts.append(word[end:][:MAX_WORD])
    return parts


def runs(text: str) -> Iterator[tuple[int, int]]:
    """Where words may stand in a text as it is written: runs of letters and digits with their marks; each pair of
    characters in scripts without blanks."""
    for match in _WRITTEN.finditer(text):
        end = match.start()
        for unspaced in _UNSPACED.finditer(text, *match.span()):
            if unspaced.start() > end:
                yield end, unspaced.start()
            first, end = unspaced.span()
            yield from ((start, min(end, start + 2)) for start in range(first, max(first + 1, end - 1)))
        if end < match.end():
            yield end, match.end()


def unspaced_as_blanks(text: str) -> str:
    """The text without what is written in scripts without blanks."""
    return text if text.isascii() else _UNSPACED.sub(" ", text)


def mostly_outside_latin(text: str) -> bool:
    """Return True if more than half of a text's letters belong to another script than Latin."""
    letters = [char for char in text if char.isalpha()]
    foreign = sum(
        1
        for char in letters
        if not (char.isascii() or unicodedata.name(char, "").startswith(("LATIN", "FULLWIDTH LATIN")))
    )
    return foreign * 2 > len(letters)


_WORDS = """
a about an and any are as at be been but by can could did do does for from had has have he her his
how i if in into is it its may me my no not of on or our out she should so some than that the their
them then there these they this those to was we were what when where which who whom whose why will
with would you your please tell show find aber als am auch auf aus bei bin bis da das dass dem den
der des die du durch ein eine einem einen einer er es fur hat haben ich ihr im ist kann man mein mit
nach nicht noch oder sein seine sich sie sind uber um und uns von vor wann warum welche welchem
welchen welcher welches wenn wer wie wird wir wo zu zum zur bitte gibt au aux avec ce cette comment
dans de elle en est et il la le les leur mais ne ou par pas pour pourquoi quand que quel quelle
quels qui sa se ses son sont sur un une vous al como con cual cuales cuando del donde el ella esta
este las lo los mas para pero por porque quien ser si su sus una y che chi come cosa dal dei della
di dove e gli ha nel non per perche piu quale quali quando sono ao aos com dos ela em isso na nao
nos o onde os pela quais qual quem sem sua uma aan dat een het hoe ik kan met naar niet om op te tot
uit van voor waar waarom wanneer wat welke worden wordt zijn co czy dla gdzie jak jaki jest kiedy
kto ktory nie oraz po przez w z za bir bu icin ile kac kim mi nasil neden nedir nerede ve в во где
для и из как какая какои когда кто ли на не от по почему сколько что это ما ماذا من في علي الي
عن مع هل كيف اين متي لماذا كم اي هو هي الذي التي هذا هذه كان كانت ان او لا تم
"""

FUNCTION_WORDS = frozenset(_WORDS.split())
