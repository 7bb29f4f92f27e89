"""Mail of all kinds as text and files."""

import base64
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import pkcs7
from cryptography.x509.oid import NameOID
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.outbound.mail.charsets import decode_bytes
from adapters.outbound.mail.headers import Headers, decode, session_of
from adapters.outbound.mail.mime import Mail, content_of, read_mail
from adapters.outbound.mail.tnef import SIGNATURE, read_tnef, signed_content

FIXTURES = Path(__file__).parent / "fixtures"


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


def test_addresses_that_the_html_alternative_alone_has_are_added_to_the_plain_text() -> None:
    html = '<p>Read <a href="https://e.org/p?a=1">the post</a> and <a href="https://e.org/2">https://e.org/2</a></p>'
    read = multipart(
        "alternative",
        ("Content-Type: text/plain", "Read the post and https://e.org/2"),
        ("Content-Type: text/html", html),
    )
    assert (read.text, read.files) == ("Read the post (https://e.org/p?a=1) and https://e.org/2", ())


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
        ("file-3.ics", "text/calendar", b"BEGIN:VCALENDAR"),
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
    answer = {"Subject": subject, "In_Reply_To": "<1@x>"}
    for read in (mail(plain, **answer), mail(html, Content_Type="text/html", **answer)):
        assert read.text.endswith("You have won" if is_forward else "Good?")
        assert is_forward or (read.quoted and "You have won" in read.quoted.text)


GMAIL_FORWARD = (
    '<div>Please handle.</div><div class="gmail_quote"><div class="gmail_attr">---------- Forwarded message '
    "---------<br>From: <b>Carl</b> &lt;carl@x.example&gt;<br>Date: Mon<br>Subject: Kettle<br>To: Ann<br></div>"
    "It leaks, serial K-77.</div>"
)


@pytest.mark.parametrize("headers", [{}, {"References": "<1@x>"}])
@pytest.mark.parametrize("subject", ["Fwd: Kettle", "Complaint, please handle"])
@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("html", GMAIL_FORWARD),
        (
            "plain",
            (
                "Please handle.\n-- \nAnn\n\n---------- Forwarded message ---------\nFrom: Carl <carl@x.example>\n"
                "Date: Mon\nSubject: Kettle\nTo: Ann\n\nIt leaks, serial K-77."
            ),
        ),
        (
            "plain",
            "Please handle.\n\nAnfang der weitergeleiteten Nachricht:\n\n> Von: Carl\n> Datum: Mo\n>\n> serial K-77.",
        ),
    ],
)
def test_a_forwarded_mail_stays_whole_whatever_its_subject(
    headers: dict[str, str], subject: str, kind: str, body: str
) -> None:
    read = mail(body, Subject=subject, Content_Type=f"text/{kind}", **headers)
    assert read.text.startswith("Please handle.")
    assert read.text.endswith("serial K-77.")
    assert read.quoted is None


NEW_TEXTS = [
    "Please change the label:\n\nFrom: Warehouse A\nTo: Shop 7\nWeight: 12 kg",
    "Transport:\nFrom: Berlin\nDate: 3 May\nTo: Hamburg\nSubject: Chairs\n\nTwo pallets",
    "Hello,\nOn the 3rd of May your colleague Max wrote:\nWe will refund you 50 EUR.\nWhere is my refund?",
    "On Fri, 20 Nov 2026 at 12:00, Max <max@shop.example> wrote:\n> We will refund you.\n\nWhere is it?",
    "My form:\n________________________________\nFrom: Berlin\nTo: Hamburg\nSent: 3 May",
    "I got this:\n-----Original Message-----\nYou have won\n\nIs it true?",
    "> Quotation of the day\n\nPrint this on the cups",
    "See below\n--\nThe text goes on",
    "Our parcel:\nGesendet mit DHL, Sendung 4711",
    "Sent from my iPhone",
    "Hello\nVon Outlook aus geht es nicht",
    f"Our trip\n{'_' * 32}\nFrom: Berlin <office@x.example>\nDate: 3 May\nTo: Hamburg",
    "Point one\n-- \n" + "\n".join(f"line {n}" for n in range(40)),
]


@pytest.mark.parametrize("text", NEW_TEXTS)
def test_of_a_mail_that_answers_none_nothing_is_removed(text: str) -> None:
    read = mail(text)
    assert (read.text, read.quoted) == (text, None)
    html = "".join(
        f"<div>{line.replace('<', '&lt;').replace('>', '&gt;') or '<br>'}</div>" for line in text.split("\n")
    )
    assert mail(html, Content_Type="text/html").text == text


@pytest.mark.parametrize(
    "html",
    [
        '<p>A</p><div class="gmail_quote">B</div><p>C</p>',
        "<p>A</p><blockquote type=cite>B</blockquote><p>C</p>",
        "<p>A</p><div id=appendonsend></div><p>B</p><p>C</p>",
    ],
)
def test_marked_quotations_stay_in_a_mail_that_answers_none(html: str) -> None:
    assert mail(html, Content_Type="text/html").text.split() == ["A", "B", "C"]
    answer = mail(html, Content_Type="text/html", In_Reply_To="<1@x>")
    assert answer.quoted is not None
    assert sorted(f"{answer.text} {answer.quoted.text}".split()) == ["A", "B", "C"]


def test_the_signature_of_a_new_mail_is_removed() -> None:
    assert mail("Yes\n-- \nAnn Example\nHead of Things").text == "Yes"
    assert mail("<p>Yes</p>-- <br>Ann", Content_Type="text/html").text == "Yes"


@pytest.mark.parametrize("text", NEW_TEXTS)
def test_what_is_removed_from_an_answer_is_quoted(text: str) -> None:
    read = mail(text, In_Reply_To="<1@x>")
    kept = f"{read.text}\n{read.quoted.text if read.quoted else ''}"
    marks = {"-----Original Message-----", "_" * 32, "-- ", "--"}
    expected = {line.removeprefix("> ") for line in text.split("\n") if line not in marks}
    dated = {line for line in expected if "<max@shop.example>" in line}  # its address is the author's
    assert {line for line in expected - dated if line not in kept} == set()


def test_texts_beside_each_other_give_what_each_quotes() -> None:
    parts = [("Content-Type: text/plain", f"{text}\r\n\r\n> old {text}") for text in ("one", "two")]
    pieces = "".join(f"--b\r\n{head}\r\n\r\n{body}\r\n" for head, body in parts)
    kind = 'multipart/mixed; boundary="b"'
    read = mail(f"{pieces}--b--\r\n", MIME_Version="1.0", Content_Type=kind, In_Reply_To="<1@x>")
    assert (read.text, read.quoted and read.quoted.text) == ("one\n\ntwo", "old one\n\nold two")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("ceo@a.example <mallory@b.example>", [("ceo@a.example", "mallory@b.example")]),
        ('"ceo@a.example" <mallory@b.example>', [("ceo@a.example", "mallory@b.example")]),
        ("ceo <ceo@a.example> <mallory@b.example>", [("ceo <ceo@a.example>", "mallory@b.example")]),
        ("ann@a.example <ann@a.example>", [("ann@a.example", "ann@a.example")]),
        ("Mueller, Hans <hans@a.example>", [("Mueller, Hans", "hans@a.example")]),
        ("Mueller, Hans, Dr. <hans@a.example>", [("Mueller, Hans, Dr.", "hans@a.example")]),
        ("=?utf-8?q?M=C3=BCller=2C_Hans?= <hans@a.example>", [("Müller, Hans", "hans@a.example")]),
        ("=?utf-8?q?M=C3=BCller,_Hans?= <hans@a.example>", [("Müller, Hans", "hans@a.example")]),
        ('"=?utf-8?q?M=C3=BCller=2C?= Hans" <hans@a.example>', [("Müller, Hans", "hans@a.example")]),
        ("Smith, ceo@a.example <m@b.example>", [("Smith, ceo@a.example", "m@b.example")]),
        ("Bob <bob@a.example>, carl@a.example", [("Bob", "bob@a.example"), ("", "carl@a.example")]),
        ("bob@a.example; carl@a.example", [("", "bob@a.example"), ("", "carl@a.example")]),
        ("Team: Ann <ann@a.example>, bob@b.example;", [("Ann", "ann@a.example"), ("", "bob@b.example")]),
        ("undisclosed-recipients:;", []),
        ("ann@a.example (Ann Example)", [("Ann Example", "ann@a.example")]),
        ('O"Brien <ob@a.example>', [('O"Brien', "ob@a.example")]),
        ("Ann :( <ann@a.example>", [("Ann :(", "ann@a.example")]),
        ("Ann <ann@a.example", [("Ann", "ann@a.example")]),
        ('"Ann Example" ann@a.example', [("Ann Example", "ann@a.example")]),
        ("ceo@a.example mallory@b.example", []),
        ('"Ann Example"@a.example', []),
        ('"ceo@a.example" mallory@b.example', []),
        ("<@relay.example:ann@a.example>", [("", "ann@a.example")]),
        ("=?utf-8?q?Ann_=3Cann=40a.example=3E?=", [("Ann", "ann@a.example")]),
        ("MAILER-DAEMON", []),
        ("", []),
    ],
)
@pytest.mark.parametrize("field", ["From", "Reply-To", "To", "Cc"])
def test_the_address_of_an_entry_is_not_its_name(
    field: str, value: str, expected: list[tuple[str, str]]
) -> None:
    addresses = Headers([(field, value)]).addresses(field)
    assert [(address.name, address.email) for address in addresses] == expected


@pytest.mark.parametrize(
    "piece", ['"', "(", "<", '\\"', "=?a", '"\\', "a,", "a;", "<a@b>", ":", "=?u?q?", "(\\"]
)
def test_hostile_addresses_take_no_long_time(piece: str) -> None:
    Headers([("From", piece * 20_000)]).addresses("From")


@pytest.mark.parametrize(
    ("charset", "text"),
    [
        ("iso-8859-1", "Bitte sieben Frösche für Köln"),
        ("windows-1251", "Здравствуйте, пришлите счёт"),
        ("windows-1251", "Заказ"),
        ("koi8-r", "Здравствуйте, пришлите счёт"),
        ("windows-1250", "Objednávka číslo šest"),
    ],
)
@pytest.mark.parametrize("declared", ["", "; charset=utf-8", "; charset=us-ascii", "; charset=nonsense"])
def test_text_in_another_charset_than_it_says_is_read(charset: str, text: str, declared: str) -> None:
    encoded = text.encode(charset)
    assert mail(encoded, Content_Type=f"text/plain{declared}").text == text
    head = b"Subject: " + encoded + b"\r\nFrom: " + encoded.replace(b",", b"") + b" <a@x.example>\r\n"
    name = b'Content-Type: application/pdf; name="' + encoded + b'.pdf"\r\n\r\nx'
    read = read_mail(head + name)
    assert (read.headers.text("Subject"), read.files[0].name) == (text, f"{text}.pdf")
    assert read.headers.addresses("From")[0].name == text.replace(",", "")


@pytest.mark.parametrize("charset", ["utf-8", "us-ascii"])
def test_encoded_words_and_names_in_another_charset_are_read(charset: str) -> None:
    assert decode(f"=?{charset}?q?sieben_Fr=F6sche_f=FCr_K=F6ln?=") == "sieben Frösche für Köln"
    disposition = f"attachment; filename*={charset}''sieben%20Fr%F6sche.pdf"
    assert (
        mail("x", Content_Disposition=disposition, Content_Type="application/pdf").files[0].name
        == "sieben Frösche.pdf"
    )


def test_a_damaged_character_is_not_another_charset() -> None:
    assert mail(
        "Здравствуйте, пришлите счёт".encode()[:-1], Content_Type="text/plain; charset=utf-8"
    ).text.startswith("Здравствуйте, пришлите сч")


def test_the_body_may_have_a_name() -> None:
    read = multipart(
        "mixed",
        ('Content-Type: text/plain; name="body.txt"', "Hello"),
        ("Content-Type: text/plain; name=note.txt\r\nContent-Disposition: attachment", "a file"),
        ('Content-Type: text/plain; name="more.txt"\r\nContent-Disposition: inline', "another"),
    )
    assert (read.text, [file.name for file in read.files]) == ("Hello", ["note.txt", "more.txt"])
    read = multipart(
        "alternative",
        ('Content-Type: text/plain; name="mail.txt"', "plain"),
        ('Content-Type: text/html; name="mail.html"', "<b>plain</b>"),
    )
    assert (read.text, read.files) == ("plain", ())


@pytest.mark.parametrize(
    ("kind", "extension"),
    [
        ("image/png", ".png"),
        ("image/jpeg", ".jpg"),
        ("image/webp", ".webp"),
        ("text/calendar", ".ics"),
        ("text/vcard", ".vcf"),
        ("application/pdf", ".pdf"),
        ("application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".docx"),
    ],
)
def test_a_file_without_a_name_is_named_by_its_type(kind: str, extension: str) -> None:
    read = multipart("mixed", ("Content-Type: text/plain", "see"), (f"Content-Type: {kind}", "x"))
    assert [file.name for file in read.files] == [f"file-1{extension}"]


@pytest.mark.parametrize("container", ["mixed", "related"])
def test_an_enclosed_mail_below_an_alternative_is_one_file(container: str) -> None:
    inner = (
        "--c\r\nContent-Type: text/html\r\n\r\n<p>See below.</p>\r\n"
        "--c\r\nContent-Type: message/rfc822\r\nContent-Disposition: attachment; filename=orig.eml\r\n\r\n"
        "Subject: inner\r\nContent-Type: multipart/mixed; boundary=d\r\n\r\n--d\r\nContent-Type: text/plain\r\n\r\n"
        "inner text\r\n--d\r\nContent-Type: application/pdf; name=a.pdf\r\n\r\nPDF\r\n--d--\r\n"
        "--c\r\nContent-Type: application/pdf; name=b.pdf\r\n\r\nPDF\r\n--c--"
    )
    read = multipart(
        "alternative",
        ("Content-Type: text/plain", "See below."),
        (f'Content-Type: multipart/{container}; boundary="c"', inner),
    )
    assert (read.text, [file.name for file in read.files]) == ("See below.", ["orig.eml", "b.pdf"])
    assert b"inner text" in read.files[0].content


def test_html_that_says_what_the_plain_text_does_not_is_read_too() -> None:
    stub = "Please use an HTML capable mail client to view this message."
    read = multipart(
        "alternative",
        ("Content-Type: text/plain", stub),
        ("Content-Type: text/html", "<p>Booking <b>8812</b>: can we bring a dog?</p>"),
    )
    assert read.text == f"{stub}\n\nBooking 8812: can we bring a dog?"
    same = multipart(
        "alternative",
        ("Content-Type: text/plain", "HTML is fine for me, and so is the plain text."),
        ("Content-Type: text/html", "<p>HTML is <b>fine</b> for me,<br>and so is the plain text.</p>"),
    )
    assert same.text == "HTML is fine for me, and so is the plain text."


@pytest.mark.parametrize("name", ["winmail.dat", ""])
def test_outlooks_own_format_is_unpacked(name: str) -> None:
    packed = base64.encodebytes((FIXTURES / "winmail.dat").read_bytes()).decode()
    kind = "application/ms-tnef" + (f"; name={name}" if name else "")
    head = f"Content-Type: {kind}\r\nContent-Transfer-Encoding: base64"
    read = multipart("mixed", ("Content-Type: text/plain", " "), (head, packed))
    assert read.text == "Please send the offer for 12 kettles."
    files = [(file.name, file.mime_type, file.content, file.member) for file in read.files]
    assert files == [
        ("Angebot für Köln.txt", "text/plain", b"Offer 55", 0),
        ("p.png", "image/png", b"PNG", 1),
    ]
    assert [content_of(file.part, file.member) for file in read.files] == [b"Offer 55", b"PNG"]
    told = multipart("mixed", ("Content-Type: text/plain", "Told here."), (head, packed))
    assert told.text == "Told here."


def test_a_winmail_dat_of_another_form_stays_a_file() -> None:
    read = multipart(
        "mixed", ("Content-Type: text/plain", "x"), ("Content-Type: application/ms-tnef", "junk")
    )
    assert [file.content for file in read.files] == [b"junk"]


def test_opaquely_signed_mail_is_read() -> None:
    body = b"Content-Type: multipart/mixed; boundary=i\r\n\r\n--i\r\nContent-Type: text/plain\r\n\r\n7 kettles\r\n"
    body += b"--i\r\nContent-Type: application/pdf; name=a.pdf\r\n\r\nPDF\r\n--i--\r\n"
    for encoding in ("DER", "streamed"):
        signed = base64.encodebytes(signed_data(body, streamed=encoding == "streamed"))
        read = mail(
            signed,
            Content_Type="application/pkcs7-mime; smime-type=signed-data; name=smime.p7m",
            Content_Transfer_Encoding="base64",
        )
        assert (read.text, [(file.name, file.content) for file in read.files]) == (
            "7 kettles",
            [("a.pdf", b"PDF")],
        )


def test_encrypted_mail_stays_a_file() -> None:
    read = mail(
        b"0\x80\x06\x09*\x86H\x86\xf7\r\x01\x07\x03", Content_Type="application/pkcs7-mime; name=smime.p7m"
    )
    assert [file.name for file in read.files] == ["smime.p7m"]


def signed_data(content: bytes, *, streamed: bool = False) -> bytes:
    """A signed message with the content inside; `streamed`: in lengths that are not known beforehand (BER)."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "ann")])
    now = datetime.now(UTC)
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    builder = builder.serial_number(1).not_valid_before(now).not_valid_after(now + timedelta(days=1))
    certificate = builder.sign(key, hashes.SHA256())
    signer = pkcs7.PKCS7SignatureBuilder().set_data(content).add_signer(certificate, key, hashes.SHA256())
    signed = signer.sign(serialization.Encoding.DER, [pkcs7.PKCS7Options.Binary])
    if not streamed:
        return signed
    half = len(content) // 2
    octets = b"".join(
        b"\x04" + bytes([0x82]) + len(piece).to_bytes(2, "big") + piece
        for piece in (content[:half], content[half:])
    )
    return (
        b"\x30\x80\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02\xa0\x80\x30\x80\x02\x01\x01\x31\x00"
        b"\x30\x80\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01\xa0\x80\x24\x80" + octets + b"\0" * 20
    )


@pytest.mark.parametrize("size", [0, 3, 7, 40, 90])
def test_packed_parts_that_break_off_are_no_error(size: int) -> None:
    packed = (FIXTURES / "winmail.dat").read_bytes()[:size]
    mail(packed, Content_Type="application/ms-tnef", Content_Transfer_Encoding="8bit")
    mail(signed_data(b"x")[:size], Content_Type="application/pkcs7-mime")


@given(st.binary(max_size=200))
def test_no_packed_part_breaks_the_reader(data: bytes) -> None:
    read_tnef(SIGNATURE + b"\0\0" + data)
    signed_content(data)


@pytest.mark.parametrize(
    "shape", ["On 1, a wrote:\n> q\n", "1 a <a@b.example>:\n", "From: a\n", "-- \n", "> \n"]
)
@pytest.mark.parametrize("headers", [{}, {"In_Reply_To": "<1@x>"}])
def test_hostile_text_takes_no_long_time(shape: str, headers: dict[str, str]) -> None:
    mail(shape * (1_000_000 // len(shape)) + "end", **headers)


@pytest.mark.parametrize(
    "shape", ["<a href=x>t", "<blockquote type=cite>", "<div class=gmail_quote>x</div>", "<p>", "&lt;"]
)
@pytest.mark.parametrize("headers", [{}, {"In_Reply_To": "<1@x>"}])
def test_hostile_html_takes_no_long_time(shape: str, headers: dict[str, str]) -> None:
    mail(shape * (1_000_000 // len(shape)), Content_Type="text/html", **headers)


@pytest.mark.parametrize("charset", ["utf-8", "windows-1251", "gb18030"])
def test_the_name_of_a_file_may_stand_unencoded_where_it_is_declared(charset: str) -> None:
    """RFC 2231 has such bytes encoded; many programs write them as they are."""
    name = "您好我的订单.pdf" if charset == "gb18030" else "Здравствуйте, заказ.pdf"
    part = f"Content-Type: application/pdf\r\nContent-Disposition: attachment; filename*={charset}''".encode()
    body = b"--b\r\n\r\nhi\r\n--b\r\n" + part + name.encode(charset) + b"\r\n\r\nPDF\r\n--b--\r\n"
    read = read_mail(
        b"From: a@x.example\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n" + body
    )
    assert [file.name for file in read.files] == [name]


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("aGVsbG8gd29ybGQ\r\n--- footer\r\n", "hello world\n--- footer"),
        ("aGVsbG8gd29y\r\nbGQ\r\n_______\r\nOur list", "hello world\n_______\nOur list"),
        ("aGVsbG8gd29ybGQ=\r\n", "hello world"),
    ],
)
def test_a_footer_below_encoded_text_does_not_keep_it_from_being_read(body: str, text: str) -> None:
    read = mail(body, Content_Type="text/plain", Content_Transfer_Encoding="base64")
    assert read.text.replace("\r\n", "\n") == text


@pytest.mark.parametrize(
    ("fields", "importance"),
    [
        ([], ""),
        ([("Importance", "High")], "high"),
        ([("Importance", "normal"), ("X-Priority", "3")], ""),
        ([("X-Priority", "1 (Highest)")], "high"),
        ([("X-Priority", "5")], "low"),
        ([("Importance", "x" * 10_000)], ""),
    ],
)
def test_the_importance_of_a_mail(fields: list[tuple[str, str]], importance: str) -> None:
    assert Headers(fields).importance() == importance
