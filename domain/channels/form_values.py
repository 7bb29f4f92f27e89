"""What a person or a program enters into a field of a form, and the value that it becomes. Pure."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import date

from domain import limits
from domain.channels.rich import FieldType, FormField, FormOption

SKIP = frozenset({"skip", "/skip", "-", "überspringen", "passer", "saltar", "salta"})
BOOLEANS = (FormOption("Yes", "yes"), FormOption("No", "no"))
_YES = frozenset({"1", "yes", "y", "true", "ok", "ja", "oui", "sí", "si", "sim", "tak", "да"})
_NO = frozenset({"2", "no", "n", "false", "nein", "non", "não", "nie", "нет"})
_NEEDED = "An answer is needed here."
_MOST = 10**15
"""Numbers are smaller."""


class Unfit(ValueError):
    """An answer that is no value of its field; the message tells the person why."""


def options_of(asked: FormField) -> tuple[FormOption, ...]:
    """What a person picks from, none where the answer is written."""
    return BOOLEANS if asked.type is FieldType.BOOLEAN else asked.options


def written_value(asked: FormField, text: str) -> object:
    """The value of what a person wrote as the answer to a question. Raises `Unfit`."""
    written = text.strip()
    if not asked.required and (not written or written.casefold() in SKIP):
        return asked.default
    if not written:
        raise Unfit(_NEEDED)
    if len(written) > limits.FORM_VALUE:
        raise Unfit(f"The answer may have at most {limits.FORM_VALUE} characters.")
    return _READERS[asked.type](asked, written)


def picked_value(asked: FormField, number: int) -> object:
    """The value of the option with this number. Raises `Unfit`."""
    options = options_of(asked)
    if not 1 <= number <= len(options):
        raise Unfit(_NEEDED)
    value = options[number - 1].value
    return value == "yes" if asked.type is FieldType.BOOLEAN else value


def entered_value(asked: FormField, entered: object) -> object:
    """The value of what was entered where all fields are shown at once: a text, a number, a truth value, or the
    values of options. None for nothing. Raises `Unfit`."""
    if asked.type is FieldType.CHOICES:
        return _entered_options(asked, _items_of(entered))
    if isinstance(entered, list) and len(entered) <= 1:
        entered = entered[0] if entered else None
    match asked.type, entered:
        case FieldType.BOOLEAN, bool():
            return entered
        case FieldType.NUMBER, (int() | float()) as number if not isinstance(number, bool):
            return _within(asked, number)
    text = _text_of(entered)
    if not text.strip():
        _check_left_out(asked)
        return None
    if option := _with_value(asked.options, text):
        return option.value
    # A text such as "skip" is an answer here.
    return written_value(replace(asked, required=True), text)


def _check_left_out(asked: FormField) -> None:
    if asked.required:
        raise Unfit(_NEEDED)


def _text_of(entered: object) -> str:
    match entered:
        case None:
            return ""
        case str():
            return entered
        case int() | float() if not isinstance(entered, bool) and -_MOST < entered < _MOST:
            return f"{entered:.15g}"
    raise Unfit("This is no value here. Please write a text.")


def _items_of(entered: object) -> list[object]:
    """The items of a list, or of a text with commas between them."""
    if isinstance(entered, str):
        return [item for item in entered.split(",") if item.strip()]
    return entered if isinstance(entered, list) else [] if entered is None else [entered]


def _entered_options(asked: FormField, entered: Sequence[object]) -> list[str]:
    options = [
        _with_value(asked.options, item) or _named(asked.options, item) if isinstance(item, str) else None
        for item in entered
    ]
    if not options:
        _check_left_out(asked)
    return _in_order(asked, options)


def _in_order(asked: FormField, options: Sequence[FormOption | None]) -> list[str]:
    if None in options:
        raise Unfit(_none_of(asked))
    return [option.value for option in asked.options if option in options]


def _none_of(asked: FormField) -> str:
    several = asked.type is FieldType.CHOICES
    numbers = "numbers" if several else "a number"
    commas = ", separated by commas" if several else ""
    return f"This is none of the options. Please write {numbers} from 1 to {len(asked.options)}{commas}."


def _with_value(options: Sequence[FormOption], value: str) -> FormOption | None:
    return next((option for option in options if option.value == value), None)


def _named(options: Sequence[FormOption], text: str) -> FormOption | None:
    """The option of which a text has the label, the value or the number."""
    written = text.strip()
    label, number = written.casefold(), written.rstrip(".)")
    same = [option for option in options if option.label == written]
    same += [option for option in options if option.label.casefold() == label]
    if option := next(iter(same), None) or _with_value(options, written):
        return option
    if number.isascii() and number.isdecimal() and len(number) <= 2 and 1 <= int(number) <= len(options):
        return options[int(number) - 1]
    return None


_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(?:[.,][0-9]{1,10})?")
_EMAIL = re.compile(r"[^\s@<>,;:\"()]{1,64}@[^\s@<>,;:\"()]{1,180}\.[^\s@<>,;:\"().]{2,63}")
_PHONE = re.compile(r"\+?[0-9][0-9 ()/.\-]{3,40}")
_DAY_FIRST = re.compile(r"([0-9]{1,2})\. ?([0-9]{1,2})\. ?([0-9]{4})")


def _text(asked: FormField, text: str) -> str:
    if asked.type is FieldType.TEXT and not text.isprintable():
        raise Unfit("Please answer in one line.")
    if asked.min is not None and len(text) < asked.min:
        raise Unfit(f"The answer needs at least {asked.min:g} characters.")
    if asked.max is not None and len(text) > asked.max:
        raise Unfit(f"The answer may have at most {asked.max:g} characters.")
    return text


def _number(asked: FormField, text: str) -> float:
    if not _NUMBER.fullmatch(text):
        raise Unfit("This is not a number. Please write digits, such as 12 or 12.5.")
    return _within(asked, float(text.replace(",", ".")) if "." in text or "," in text else int(text))


def _within(asked: FormField, number: float) -> float:
    if not -_MOST < number < _MOST:
        raise Unfit("The number may have at most 15 digits.")
    if asked.min is not None and number < asked.min:
        raise Unfit(f"The number must be at least {asked.min:.15g}.")
    if asked.max is not None and number > asked.max:
        raise Unfit(f"The number must be at most {asked.max:.15g}.")
    return number


def _email(asked: FormField, text: str) -> str:
    if not _EMAIL.fullmatch(text):
        raise Unfit("This is not a mail address. It looks like ada@example.org.")
    return text


def _phone(asked: FormField, text: str) -> str:
    digits = re.sub(r"[^0-9]", "", text)
    if not _PHONE.fullmatch(text) or not 5 <= len(digits) <= 15:
        raise Unfit("This is not a phone number. Please write digits, such as +43 1 234567.")
    return f"+{digits}" if text.startswith("+") else digits


def _date(asked: FormField, text: str) -> str:
    day_first = _DAY_FIRST.fullmatch(text)
    iso = f"{day_first[3]}-{day_first[2]:0>2}-{day_first[1]:0>2}" if day_first else text
    try:
        return date.fromisoformat(iso).isoformat()
    except ValueError:
        raise Unfit("This is not a date. Please write it as 2026-12-31 or 31.12.2026.") from None


def _boolean(asked: FormField, text: str) -> bool:
    word = text.casefold()
    if word in _YES or word in _NO:
        return word in _YES
    raise Unfit("Please answer with yes or no.")


def _choice(asked: FormField, text: str) -> str:
    if option := _named(asked.options, text):
        return option.value
    raise Unfit(_none_of(asked))


def _choices(asked: FormField, text: str) -> list[str]:
    single = _named(asked.options, text)
    items = [single] if single else [_named(asked.options, item) for item in re.split(r"[,;\n]", text)]
    return _in_order(asked, items)


_READERS: Mapping[FieldType, Callable[[FormField, str], object]] = {
    FieldType.TEXT: _text,
    FieldType.MULTILINE: _text,
    FieldType.NUMBER: _number,
    FieldType.EMAIL: _email,
    FieldType.PHONE: _phone,
    FieldType.DATE: _date,
    FieldType.BOOLEAN: _boolean,
    FieldType.CHOICE: _choice,
    FieldType.CHOICES: _choices,
}
