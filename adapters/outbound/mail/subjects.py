"""Prefixes of subjects that mark a mail as an answer or as forwarded.

They are those of Outlook, Apple Mail, Thunderbird, Lotus Notes and Gmail in their languages. Counts such as `Re[2]:`
and tags such as `[list]` in front follow RFC 5256, 2.1.
"""

import re
from unicodedata import normalize

MAX_SUBJECT = 500
"""Characters of the subject of an answer."""

_REPLY = (
    "re|aw|antw|antwort|antwoord|sv|svar|rép|réf|réponse|r|rif|risp|res|resp|odp|odpověď|odpoveď|odg|отг|отв|ответ"
    "|відп|vá|válasz|ynt|απ|σχετ|vast|vastaus|ats|atb|bls|balas|trả lời|răsp"
    "|odgovor|ang|yan\u0131t|hồi đáp|回信"
    "|回复|回覆|回復|答复|答覆|返信|회신|답장|ตอบ|ตอบกลับ|رد|پاسخ|השב|תשובה"
)
_FORWARD = (
    "fw|fwd|wg|tr|trs|rv|enc|vb|vl|doorst|doorgestuurd|wtr|pd|i|ml|továbbítás|ilt|i̇lt|πρθ|пер|пересл|переслано|videresend"
    "|videresendt|vidaresend|vidarebefordrat|proslijeđeno|posredovano|přeposláno|preposlané|redirecționat|persiųsta"
    "|pārsūtīt|edasi|chuyển tiếp|ส่งต่อ|إعادة توجيه|بازارسال|转发|轉寄|轉發|転送|전달|הועבר"
)
"""Without VS, which marks an answer in Finnish and a forwarded mail in Danish."""

_END = r"\.?(?:\s?(?:\[\d{1,4}\]|\(\d{1,4}\)|\^\d{1,4}))?\s*[:\uff1a\ufe55]"
_TAG = r"(?:\[[^\[\]]{1,100}\]|【[^【】]{1,100}】|\([^()]{1,100}\))"
_LEADING = re.compile(rf"\s*(?:(?P<reply>(?:{_REPLY}){_END})|(?:{_FORWARD}){_END}|{_TAG})", re.IGNORECASE)
_FORWARDED = re.compile(rf"\s*(?:{_TAG}\s*)*(?:{_FORWARD}){_END}", re.IGNORECASE)


def is_forwarded(subject: str) -> bool:
    """Return True if a mail is forwarded, and not an answer to a forwarded one."""
    return bool(_FORWARDED.match(normalize("NFC", subject[:MAX_SUBJECT])))


def reply_subject(subject: str) -> str:
    """The subject with one `Re: ` in front in place of all reply prefixes; forward prefixes and tags stay."""
    rest = normalize("NFC", " ".join(subject.split())[:MAX_SUBJECT])
    kept = ""
    while prefix := _LEADING.match(rest):
        kept += "" if prefix["reply"] else prefix.group()
        rest = rest[prefix.end() :]
    return f"Re: {(kept + rest).strip()}".rstrip()
