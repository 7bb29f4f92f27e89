"""Which one-byte encoding a text in Latin letters has: the one under which its letters fit one language.

General guessing takes French in windows-1252 for Central European windows-1250, for both make letters of
every byte; no language, though, has ŕ, č and ę at once.
"""

from __future__ import annotations

_ALPHABETS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "cp1252",
        (
            "äöüß",
            "àâçéèêëîïôùûüœæ",
            "áéíñóúü¿¡",
            "ãáâàçéêíóôõú",
            "åäöéæø",
            "àèéìòùí",
            "éëïóèüöê",
            "þðæöáéíóúý",
        ),
    ),
    ("cp1250", ("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "čćđšž", "ăâîşţ")),
    ("iso8859_2", ("ąćęłńóśźż", "áčďéěíňóřšťúůýž", "áäčďéíĺľňóôŕšťúýž", "áéíóöőúüű", "čćđšž", "ăâîşţ")),
    ("cp1254", ("çğıöşüâîû",)),
    ("cp1257", ("ąčęėįšųūž", "āčēģīķļņšūž", "äöõüšž")),
)
_PUNCTUATION = frozenset("\u2018\u2019“”„«»\u2013—…€£°§·©®™²³½\u00a0\u00ad•¿¡ºª")


def latin_encoding(data: bytes) -> str | None:
    """The encoding whose decoding fits a language best, or None where no letter outside ASCII fits any."""
    best, best_share = None, 0.5
    for encoding, alphabets in _ALPHABETS:
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        share = _fit(text, alphabets)
        if share > best_share:
            best, best_share = encoding, share
    return best


def _fit(text: str, alphabets: tuple[str, ...]) -> float:
    beyond = [char for char in text.lower() if char > "\x7f" and char not in _PUNCTUATION]
    if not beyond:
        return 0.0
    return max(sum(char in alphabet for char in beyond) for alphabet in alphabets) / len(beyond)


def is_latin(text: str) -> bool:
    """Whether most letters of the text are plain Latin ones."""
    letters = [char for char in text if char.isalpha()]
    return bool(letters) and sum(char < "\u0250" for char in letters) > len(letters) * 0.8
