"""Text that is none: letters without characters, forms that ask to wait, encrypted messages, text in UTF-16."""

import pytest

from adapters.outbound.knowledge.parsing.pdf.letters import are_alike, may_be_unreadable
from domain.refusals import Unreadable
from tests.parsing.making import SAMPLES, assembled

pytestmark = pytest.mark.anyio

WAIT = "Please wait... If this message is not replaced, get Adobe Reader."
PAGE = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 4 0 R >> >>"
FONT, ORDER = "/BaseFont /STSong-Light", "<< /Registry (Adobe) /Ordering (GB1) /Supplement 0 >>"
DATA = (
    '<xdp:xdp xmlns:xdp="http://ns.adobe.com/xdp/"><template xmlns="http://www.xfa.org/schema/xfa-template/3.3/"><subform>'
    "<draw><value><text>Application for a berth</text></value></draw>"
    '<field name="Sponsor"><caption><value><text>Who pays</text></value></caption></field></subform></template>'
    '<xfa:datasets xmlns:xfa="http://www.xfa.org/schema/xfa-data/1.0/"><xfa:data><form><Sponsor>Ada Quill</Sponsor>'
    "<City>Bremen</City><Empty/></form></xfa:data></xfa:datasets></xdp:xdp>"
)


def form(data: str, *, more: str = "/NeedsRendering true") -> bytes:
    stream = f"BT /F1 12 Tf 72 700 Td ({WAIT}) Tj ET"
    return assembled(
        [
            f"<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [] /XFA 6 0 R >> {more} >>",
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            f"{PAGE} /Contents 5 0 R >>",
            "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
            f"<< /Length {len(data)} >>\nstream\n{data}\nendstream",
            "<< >>",
        ]
    )


@pytest.mark.parametrize("more", ["/NeedsRendering true", ""], ids=["dynamic", "that does not say so"])
async def test_a_form_that_asks_to_wait_is_read_by_its_fields(parse, more):
    document = await parse(form(DATA, more=more), "form.pdf")

    assert document.text == "Application for a berth\n\nWho pays: Ada Quill\nCity: Bremen"
    (warning,) = document.warnings
    assert "form (XFA)" in warning


@pytest.mark.parametrize(
    ("page", "read"),
    [
        ("Bitte warten...", "Application for a berth"),
        ("Application for a berth", "Application for a berth"),
    ],
    ids=["of another language", "that shows its form on its pages"],
)
async def test_a_form_is_read_by_its_fields_where_its_pages_show_none_of_them(parse, page, read):
    document = await parse(
        form(DATA, more="").replace(WAIT.encode(), page.ljust(len(WAIT)).encode()), "form.pdf"
    )

    assert document.text.startswith(read)
    assert bool(document.warnings) == page.startswith("Bitte")


async def test_a_form_without_fields_is_refused(refusal):
    assert "print it into a PDF" in await refusal(form("<xdp/>"), "form.pdf", Unreadable)


async def test_letters_without_characters_are_recognised(parse):
    document = await parse(SAMPLES / "unmapped.pdf", "unmapped.pdf")

    assert "Fees are due at once" in document.text
    assert document.engine == "rapidocr"
    (warning,) = document.warnings
    assert "the text of page 1 is stored without its characters" in warning


async def test_chinese_in_a_font_that_is_not_in_the_file_is_read(parse):
    shown = "".join(
        f"1 0 0 1 {60 + 14 * place} 700 Tm <{ord(char):04x}> Tj " for place, char in enumerate("港口管理")
    )
    stream = f"BT /F1 14 Tf {shown} ET"
    content = assembled(
        [
            "<< /Type /Catalog /Pages 2 0 R >>",
            "<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
            f"{PAGE} /Contents 6 0 R >>",
            f"<< /Type /Font /Subtype /Type0 {FONT} /Encoding /UniGB-UCS2-H /DescendantFonts [5 0 R] >>",
            f"<< /Type /Font /Subtype /CIDFontType0 {FONT} /DW 1000 /CIDSystemInfo {ORDER} >>",
            f"<< /Length {len(stream)} >>\nstream\n{stream}\nendstream",
            "<< >>",
        ]
    )

    assert (await parse(content, "harbour.pdf")).text == "港口管理"


PROSE = (
    "The keeper of the lighthouse has to be told of every ship that passes in the night, so that he can write it "
    "down in the book of the harbour. In the morning the book is taken to the office and read by the clerk."
)


def test_shifted_letters_are_no_language() -> None:
    assert may_be_unreadable("".join(chr(ord(char) - 29) if char.isalpha() else char for char in PROSE * 2))
    assert may_be_unreadable((PROSE * 2).translate(str.maketrans("etaoinshrdlu", "qxzjkvbpygfw")))
    assert not may_be_unreadable(PROSE * 2)
    assert not may_be_unreadable("BX-100 4711 " * 30)


def test_texts_are_compared_by_their_words() -> None:
    assert are_alike(PROSE, PROSE.replace("lighthouse", "1ighthouse").upper())
    assert not are_alike(PROSE, PROSE[::-1])


MAIL = (
    "From: Ann M\u00fcller <ann@example.com>\r\nSubject: Gr\u00f6\u00dfe\r\n"
    "Content-Type: text/plain; charset={}\r\n\r\nDie Stra\u00dfe.\r\n"
)


@pytest.mark.parametrize("declared", ["utf-16", "us-ascii", "utf-8"])
@pytest.mark.parametrize("form", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
async def test_a_mail_that_was_saved_in_utf_16_is_a_mail(parse, form, declared):
    document = await parse(MAIL.format(declared).encode(form), "size.eml")

    assert document.title == "Gr\u00f6\u00dfe"
    assert document.text.endswith("Subject: Gr\u00f6\u00dfe\n\nDie Stra\u00dfe.")


ARMOR = "-----BEGIN PGP MESSAGE-----\n\nhQEMA5d1=\n=aBcD\n-----END PGP MESSAGE-----\n"
SIGNED = (
    "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nThe pump is serviced.\n- -- Ann\n"
    "-----BEGIN PGP SIGNATURE-----\n\niQEz\n-----END PGP SIGNATURE-----\n"
)
HEAD = "From: ann@example.com\nSubject: Service\n"
ENVELOPED = (
    "Content-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m\n"
    "Content-Transfer-Encoding: base64\n\nMIIBhgYJKoZIhvcNAQcDoIIBdzCC\n"
)
PGP_MIME = (
    'Content-Type: multipart/encrypted; protocol="application/pgp-encrypted"; boundary=b\n\n--b\n'
    "Content-Type: application/pgp-encrypted\n\nVersion: 1\n--b\n"
    f"Content-Type: application/octet-stream\n\n{ARMOR}--b--\n"
)


@pytest.mark.parametrize(
    ("content", "kind"),
    [(f"\nHello\n{ARMOR}", "PGP"), (PGP_MIME, "PGP"), (ENVELOPED, "S/MIME")],
    ids=["PGP in the text", "PGP/MIME", "S/MIME"],
)
async def test_an_encrypted_mail_says_so(parse, content, kind):
    document = await parse((HEAD + content).encode(), "service.eml")

    assert document.warnings == (f"the text is encrypted ({kind}) and was not read",)
    assert "hQEMA5d1" not in document.text


async def test_an_encrypted_text_is_refused_and_a_signed_one_read(parse, refusal):
    assert (await parse(SIGNED.encode(), "signed.txt")).text == "The pump is serviced.\n-- Ann"
    assert (await parse(f"Before.\n\n{ARMOR}".encode(), "partly.txt")).text == "Before."
    assert (await parse(f"# Key\n\n{ARMOR}".encode(), "partly.md")).text == "Key"
    assert "encrypted" in await refusal(ARMOR.encode(), "secret.txt", Unreadable)
    assert "encrypted" in await refusal(ARMOR.encode(), "secret.md", Unreadable)
