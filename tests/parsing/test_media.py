"""Pictures, scans and sound: their words are recognised."""

import io

import pytest
from PIL import Image, ImageDraw, ImageFont

from domain.knowledge.documents import BlockKind, Format
from tests.parsing.making import picture, speech

pytestmark = pytest.mark.anyio


async def test_a_page_without_a_text_layer_is_recognised(parse):
    out = io.BytesIO()
    Image.open(io.BytesIO(picture("PNG"))).save(out, "PDF", resolution=100)

    document = await parse(out.getvalue(), "scan.pdf")

    assert document.engine == "rapidocr"
    assert "48213" in document.text
    assert {block.page for block in document.blocks} == {1}


@pytest.mark.parametrize(
    ("encoder", "extension", "format_"),
    [
        ("JPEG", "jpg", Format.JPEG),
        ("PNG", "png", Format.PNG),
        ("GIF", "gif", Format.GIF),
        ("WEBP", "webp", Format.WEBP),
        ("BMP", "bmp", Format.BMP),
    ],
)
async def test_pictures(parse, encoder, extension, format_):
    document = await parse(picture(encoder), f"invoice.{extension}")

    assert (document.format, document.engine) == (format_, "rapidocr")
    assert "48213" in document.text
    assert document.text.index("Invoice") < document.text.index("Total")


@pytest.mark.parametrize(
    ("extension", "format_"), [("ogg", Format.OGG), ("wav", Format.WAV), ("mp3", Format.MP3)]
)
async def test_speech(parse, extension, format_):
    document = await parse(speech(extension.upper()), f"harbour.{extension}")

    assert (document.format, document.engine) == (format_, "pocketsphinx en-us")
    assert "people went to the market" in document.text
    segment = document.blocks[-1]
    assert segment.kind is BlockKind.SPEECH
    assert segment.time_start is not None
    assert 4 < (segment.time_end or 0) < 7


@pytest.mark.parametrize("degrees", [180, 270])
async def test_a_turned_page_is_read_in_its_order(parse, degrees):
    out = io.BytesIO()
    Image.open(io.BytesIO(picture("PNG"))).rotate(degrees, expand=True).save(out, "PNG")

    document = await parse(out.getvalue(), "turned.png")

    assert document.text.split() == "Invoice number 48213 Total amount 950 EUR".split()  # noqa: SIM905


@pytest.mark.parametrize("colour", ["black", "white"])
async def test_letters_on_a_transparent_ground(parse, colour):
    image, out = Image.new("RGBA", (760, 110)), io.BytesIO()
    ImageDraw.Draw(image).text((30, 30), "Invoice number 48213", fill=colour, font=ImageFont.load_default(36))
    image.save(out, "PNG")

    assert (await parse(out.getvalue(), "sign.png")).text == "Invoice number 48213"
