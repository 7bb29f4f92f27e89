"""Answers bear one reply prefix in any language; what else stands before a subject stays."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.mail.headers import is_forwarded, reply_subject

ANSWERS = [
    *("Re:", "RE:", "re :", "RE\u00a0:", "Re[2]:", "Re [3] :", "Re(2):", "Re^2:", "RE\uff1a"),
    *(
        "AW:",
        "Aw:",
        "Antw:",
        "ANTWORT:",
        "Antwoord:",
        "SV:",
        "Sv:",
        "Svar:",
        "R:",
        "RIF:",
        "RES:",
        "Odp:",
        "Odg:",
    ),
    *(
        "Réf:",
        "Re\u0301f:",
        "RÉP :",
        "YNT:",
        "ΑΠ:",
        "Απ:",
        "Vá:",
        "Ats:",
        "Atb:",
        "Vast:",
        "BLS:",
        "Отв:",
        "Ответ:",
    ),
    *(
        "回复:",
        "回复\uff1a",
        "答复:",
        "回覆:",
        "答覆:",
        "返信:",
        "회신:",
        "답장:",
        "رد:",
        "השב:",
        "ตอบ:",
        "Trả lời:",
        "Rép. :",
        "Odp.:",
        "Odgovor:",
        "Hồi đáp:",
        "回信:",
    ),
]


@pytest.mark.parametrize("prefix", ANSWERS)
def test_a_reply_prefix_in_any_language_becomes_one(prefix: str) -> None:
    assert reply_subject(f"{prefix} Hours") == "Re: Hours"
    assert reply_subject(f"{prefix}Hours") == "Re: Hours"
    assert reply_subject(f"{prefix} Re: {prefix} AW: Hours") == "Re: Hours"


@pytest.mark.parametrize("prefix", ["Fwd:", "FW:", "WG:", "TR:", "RV:", "VS:", "转发:", "[list]", "[EXTERN]"])
def test_forward_prefixes_and_tags_stay(prefix: str) -> None:
    assert reply_subject(f"{prefix} Hours") == f"Re: {prefix} Hours"


@pytest.mark.parametrize(
    ("subject", "expected"),
    [
        ("[list] AW: Hours", "Re: [list] Hours"),
        ("(EXTERN) AW: Hours", "Re: (EXTERN) Hours"),
        ("AW: 【外部】Re: Hours", "Re: 【外部】 Hours"),
        ("Re: [list] Re: Hours", "Re: [list] Hours"),
        ("WG: AW: Hours", "Re: WG: Hours"),
        ("Reading: a question", "Re: Reading: a question"),
        ("Swim: AW: x", "Re: Swim: AW: x"),
        ("AW", "Re: AW"),
        ("Re:", "Re:"),
        ("", "Re:"),
        ("[1] 2: three", "Re: [1] 2: three"),
    ],
)
def test_only_what_stands_in_front_is_a_prefix(subject: str, expected: str) -> None:
    assert reply_subject(subject) == expected


@given(st.lists(st.sampled_from([*ANSWERS, "Fwd: ", "[t] ", "Hours", " ", ":"])).map("".join))
def test_an_answer_to_an_answer_bears_the_same_subject(subject: str) -> None:
    once = reply_subject(subject)
    assert reply_subject(once) == once


@pytest.mark.parametrize(
    ("subject", "forwarded"),
    [
        ("[EXTERN] WG: Angebot", True),
        ("转发: x", True),
        ("Fwd[2]: x", True),
        ("AW: WG: Angebot", False),
        ("TRIP: x", False),
    ],
)
def test_forwarded_mail_is_known(subject: str, forwarded: bool) -> None:
    assert is_forwarded(subject) == forwarded
