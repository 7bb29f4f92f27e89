"""Mail of all kinds as text and files."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.outbound.mail.charsets import decode_bytes
from adapters.outbound.mail.headers import Headers, decode, session_of
from adapters.outbound.mail.mime import Mail, read_mail


def mail(body: str | bytes, **headers: str) -> Mail:
    head = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in headers.items())
    content = body if isinstance(body, bytes) else body.encode()
    return read_mail(head.encode() + b"\r\n" + content)


def multipart(kind: str, *parts: tuple[str, str]) -> Mail:
    pieces = "".join(f"--b\r\n{head}\r\n\r\n{body}\r\n" for head, body in parts)
    return mail(f"{pieces}--b--\r\n", MIME_Version="1.0", Content_Type=f'multipart/{kind}; boundary="b"')


@pytest.mark.parametrize(
    ("charset", "encoded"),
    [
        ("utf-8", "Grüße €".encode()),
        ("iso-8859-1", "Grüße €".encode("cp1252")),
        ("windows-1252", "Grüße €".encode("cp1252")),
        ("x-unknown", "Grüße €".encode()),
        ("us-ascii", "Grüße €".encode()),
        ("us-ascii", "Grüße €".encode("cp1252")),
    ],
)
@pytest.mark.parametrize("encoding", ["base64", "8bit"])
def test_charsets_and_encodings(charset: str, encoded: bytes, encoding: str) -> None:
    body = base64.encodebytes(encoded) if encoding == "base64" else encoded
    read = mail(body, Content_Type=f"text/plain; charset={charset}", Content_Transfer_Encoding=encoding)
    assert read.text == "Grüße €"


def test_utf_8_that_is_called_western_is_read() -> None:
    assert mail("Grüße “€”".encode(), Content_Type="text/plain; charset=iso-8859-1").text == "Grüße “€”"


@pytest.mark.parametrize(
    ("charset", "encoded", "text"),
    [
        ("iso-2022-jp", b"\x1b$BF|K\\8l-!\x1b(B ok", "日本語① ok"),  # a character of NEC's
        ("iso-2022-jp", b"\x1b$BF|K\\\x1b(I6E\x1b(B ok", "日本ｶﾅ ok"),  # narrow katakana
        ("ISO-2022-JP", b"\x1b$B\x1b(B\x1b$BF", "F"),
        ("shift_jis", "①日本".encode("cp932"), "①日本"),
        ("euc-kr", "똠방각하".encode("cp949"), "똠방각하"),
        ("koi8-r", "Привет".encode("koi8-r"), "Привет"),
    ],
)
def test_charsets_stand_for_what_programs_write_under_their_name(
    charset: str, encoded: bytes, text: str
) -> None:
    assert mail(encoded, Content_Type=f"text/plain; charset={charset}").text == text


@pytest.mark.parametrize("text", ["日本語のメール\n第二行", "亜腕弌熙、あア"])
def test_japanese_mail(text: str) -> None:
    assert decode_bytes(text.encode("iso2022_jp"), "iso-2022-jp") == text


def test_html_may_name_its_charset_itself() -> None:
    html = '<head><meta http-equiv="Content-Type" content="text/html; charset=koi8-r"></head><p>Привет</p>'
    assert mail(html.encode("koi8-r"), Content_Type="text/html").text == "Привет"


def test_raw_utf8_in_the_name_of_a_file_is_read() -> None:
    read = multipart("mixed", ('Content-Disposition: attachment; filename="Отчёт.pdf"', "x"))
    assert [file.name for file in read.files] == ["Отчёт.pdf"]


@pytest.mark.parametrize("encoded", ["Grüße €".encode(), "Grüße €".encode("cp1252")])
def test_text_without_a_charset_is_utf_8_or_else_western(encoded: bytes) -> None:
    assert mail(encoded).text == "Grüße €"
    assert mail(b"<p>" + encoded, Content_Type="text/html").text == "Grüße €"


def test_a_container_without_a_boundary_is_text() -> None:
    read = mail("Hello", Content_Type="multipart/mixed")
    assert (read.text, read.files) == ("Hello", ())


def test_quoted_printable() -> None:
    read = mail(
        "Gr=C3=BC=C3=9Fe,=\r\n Welt",
        Content_Type="text/plain; charset=utf-8",
        Content_Transfer_Encoding="quoted-printable",
    )
    assert read.text == "Grüße, Welt"


def test_multibyte_charset() -> None:
    read = mail("你好".encode("gb18030"), Content_Type="text/plain; charset=gb2312")
    assert read.text == "你好"


def test_flowed_text_is_joined() -> None:
    read = mail("One sentence \r\nin two lines.\r\nNext", Content_Type="text/plain; format=flowed")
    assert read.text == "One sentence in two lines.\nNext"


def test_of_alternatives_plain_text_is_read() -> None:
    read = multipart(
        "alternative", ("Content-Type: text/plain", "plain"), ("Content-Type: text/html", "<b>html</b>")
    )
    assert (read.text, read.files) == ("plain", ())


def test_html_is_read_when_the_plain_alternative_is_empty() -> None:
    read = multipart(
        "alternative", ("Content-Type: text/plain", "  "), ("Content-Type: text/html", "<b>html</b>")
    )
    assert read.text == "html"


def test_html_alone_becomes_text() -> None:
    html = (
        "<html><head><style>p{}</style></head><body><p>Dear <b>Ann</b>,</p><ul><li>one<li>two</ul>"
        '<a href="https://x.example/a">here</a><script>bad()</script></body></html>'
    )
    read = mail(html, Content_Type="text/html")
    assert read.text == "Dear Ann,\n\n- one\n- two\nhere (https://x.example/a)"


def test_files_come_with_their_names_and_bytes() -> None:
    read = multipart(
        "mixed",
        ("Content-Type: text/plain", "see"),
        (
            (
                "Content-Type: application/pdf\r\nContent-Transfer-Encoding: base64\r\n"
                "Content-Disposition: attachment; filename*=UTF-8''r%C3%A9sum%C3%A9.pdf"
            ),
            base64.b64encode(b"%PDF-1").decode(),
        ),
        ('Content-Type: image/png; name="../../etc/passwd"', "png"),
        ("Content-Type: text/calendar", "BEGIN:VCALENDAR"),
    )
    assert read.text == "see"
    assert [(file.name, file.mime_type, file.content) for file in read.files] == [
        ("résumé.pdf", "application/pdf", b"%PDF-1"),
        (".._.._etc_passwd", "image/png", b"png"),
        ("file-3", "text/calendar", b"BEGIN:VCALENDAR"),
    ]


def test_an_enclosed_mail_is_a_file_and_its_text_is_not_the_writers() -> None:
    read = multipart(
        "mixed",
        ("Content-Type: text/plain", "please look"),
        ("Content-Type: message/rfc822", "Subject: inner\r\n\r\ninner text"),
    )
    assert read.text == "please look"
    assert read.files[0].name == "message.eml"
    assert b"inner text" in read.files[0].content


def test_pictures_beside_html_are_kept_when_the_plain_text_is_chosen() -> None:
    inner = (
        '--c\r\nContent-Type: text/html\r\n\r\n<img src="cid:1">\r\n'
        '--c\r\nContent-Type: image/png; name="p.png"\r\n\r\nPNG\r\n--c--'
    )
    read = multipart(
        "alternative",
        ("Content-Type: text/plain", "plain"),
        ('Content-Type: multipart/related; boundary="c"', inner),
    )
    assert (read.text, [file.name for file in read.files]) == ("plain", ["p.png"])


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\r\n\r\n",
        b"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b",
        b"Content-Type: multipart/mixed\r\n\r\nno boundary",
        b"Content-Type: text/plain; charset=\xff\xfe\r\n\r\n\xff",
        b"Content-Type: text/plain\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!!===",
        b"Subject: =?utf-8?b?!!!?=\r\nFrom: =?x?q?=?=\r\n\r\nx",
        b"From: a@b.c\0\r\nMessage-ID: <>\r\n\r\n\0",
        b"Content-Type: application/x; name*0*=x''%zz; name*5=\"y\"\r\n\r\nx",
        b"Content-Type: message/rfc822\r\nContent-Transfer-Encoding: base64\r\n\r\nAAAA",
    ],
)
def test_malformed_mail_is_read_as_far_as_it_goes(raw: bytes) -> None:
    read = read_mail(raw)
    assert "\0" not in read.text
    assert read.key


_LINES = st.sampled_from(
    [
        b"Content-Type: multipart/mixed; boundary=b\r\n",
        b"Content-Type: multipart/alternative; boundary=b\r\n",
        b"Content-Type: message/rfc822\r\n",
        b"Content-Type: text/html; charset=utf-7\r\n",
        b"Content-Type: text/plain; charset=idna; format=flowed\r\n",
        b"Content-Disposition: attachment; filename*0*=a; filename*1=b\r\n",
        b"Content-Transfer-Encoding: quoted-printable\r\n",
        b"Content-Transfer-Encoding: uuencode\r\n",
        b"From: \xff\xc3\xa9 <\xffa@b\xff.c>\r\n",
        b"Message-ID: <\xff\xed\xa0\x80@x>\r\n",
        b"Subject: \xc3\xa9 =?utf-8?q?=ED=A0=80?=\r\n",
        b"--b\r\n",
        b"--b--\r\n",
        b"\r\n",
        b"begin 644 x\r\n",
        b"<div><blockquote type=cite><p>&#x110000;</div>\r\n",
        b"> quoted\r\nOn x wrote:\r\n",
    ]
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.one_of(_LINES, st.binary(max_size=40)), max_size=25).map(b"".join))
def test_no_mail_breaks_the_reader(raw: bytes) -> None:
    read = read_mail(raw)
    assert isinstance(read.text, str)
    read.text.encode()
    session_of(read.headers, read.key).encode()
    read.key.encode()
    for name in ("From", "Subject", "To"):
        for address in read.headers.addresses(name):
            f"{address.name} {address.email}".encode()
        read.headers.text(name).encode()


@given(st.text(max_size=200))
def test_any_header_decodes_to_one_line(value: str) -> None:
    assert "\n" not in decode(value)


@given(st.binary(max_size=50), st.text(max_size=12))
def test_any_bytes_decode_in_any_charset(data: bytes, charset: str) -> None:
    assert isinstance(decode_bytes(data, charset), str)


def test_raw_utf8_in_a_header_is_read() -> None:
    assert read_mail("Subject: Grüße\r\n\r\n".encode()).headers.text("Subject") == "Grüße"


def test_a_thread_is_its_first_mail() -> None:
    own = ("Message-ID", "<c@x>")
    assert session_of(Headers([own, ("References", "<a@x>\r\n <b@x>")]), "") == "<a@x>"
    assert session_of(Headers([own, ("In-Reply-To", "<b@x>")]), "") == "<b@x>"
    assert session_of(Headers([own]), "") == "<c@x>"
    assert session_of(Headers([("Message-ID", "broken")]), "fallback") == "fallback"


def test_different_mail_under_one_message_id_is_told_apart() -> None:
    one = mail("a", Message_ID="<1@x>", Subject="one")
    same = mail("a", Message_ID="<1@x>", Subject="one", Received="from elsewhere")
    other = mail("b", Message_ID="<1@x>", Subject="other")
    assert one.key == same.key != other.key


@pytest.mark.parametrize("subject", ["FW: Offer", "Offer"])
def test_a_forwarded_mail_is_handed_on_whole(subject: str) -> None:
    plain = "Good?\r\n\r\nFrom: X\r\nSent: Friday\r\nTo: Ann\r\n\r\nYou have won"
    html = "<p>Good?</p><div id=divRplyFwdMsg><b>From:</b> X</div><p>You have won</p>"
    is_forward = subject.startswith("FW")
    assert mail(plain, Subject=subject).text.endswith("You have won" if is_forward else "Good?")
    read = mail(html, Subject=subject, Content_Type="text/html")
    assert read.text.endswith("You have won" if is_forward else "Good?")
