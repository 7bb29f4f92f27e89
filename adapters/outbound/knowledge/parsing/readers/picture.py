"""Pictures: their text is recognised by RapidOCR, whose models lie in its wheel (no network).

Of an animation the first frame is read, of a TIFF every page.
"""

import logging
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import groupby, zip_longest
from typing import Any

from PIL import Image, ImageOps, ImageStat, UnidentifiedImageError

from adapters.outbound.knowledge.parsing.reading import Job
from domain.knowledge.documents import Block, BlockKind, Format

ENGINE = "rapidocr"
_LEAST_CONFIDENCE = 0.5
_SAME_LINE = 0.5
_PARAGRAPH_GAP = 1.0
_TALL = 1.5
_SURE = 0.9
_MOST_TURNS, _WORSE = 2, 0.7


def warm() -> None:
    """Imports what recognising needs, without a model and without a thread."""
    import cv2
    import onnxruntime  # noqa: F401
    import rapidocr  # noqa: F401

    cv2.setNumThreads(1)


@dataclass(frozen=True, slots=True)
class Line:
    """A recognised line; `top` and `bottom` are shares of the picture's height. No text: a gap between paragraphs."""

    text: str
    top: float = 0.0
    bottom: float = 0.0


def lines(image: Image.Image) -> list[Line]:
    """The lines in reading order, a gap after each paragraph, also where the page is turned or on its head.

    A turned page is turned back and recognised again: the engine turns single lines, and errs with some.
    """
    image = image.convert("RGB")
    best = _recognised(image)
    turn = best.turn
    for _ in range(_MOST_TURNS):
        if turn is None:
            break
        image = image.transpose(turn)
        again = _recognised(image)
        turn = again.turn
        if again.certainty > best.certainty * _WORSE:
            best = again
    rows = [
        Line(text, top / best.height, bottom / best.height)
        for top, bottom, text in _rows(sorted(best.pieces))
    ]
    spaced: list[Line] = []
    for row, following in zip_longest(rows, rows[1:]):
        spaced.append(row)
        least = (following.bottom - following.top) * _PARAGRAPH_GAP if following else 0.0
        if following is None or following.top - row.bottom > least:
            spaced.append(Line(""))
    return spaced


def paragraphs(image: Image.Image) -> list[list[str]]:
    """The same as paragraphs of lines."""
    groups = groupby(lines(image), key=lambda line: bool(line.text))
    return [[line.text for line in group] for has_text, group in groups if has_text]


@dataclass(frozen=True, slots=True)
class _Recognised:
    """What one look at a picture gave: pieces `(top, bottom, left, text)`, and how it should be turned, if at all."""

    pieces: list[tuple[float, float, float, str]]
    height: int
    certainty: float
    turn: Image.Transpose | None


def _recognised(image: Image.Image) -> _Recognised:
    import numpy

    engine = _engine()
    result = engine(numpy.asarray(image)[:, :, ::-1])
    if result.boxes is None or result.txts is None:
        return _Recognised([], image.height, 0.0, None)
    boxes = [
        (float(box[:, 1].min()), float(box[:, 1].max()), float(box[:, 0].min()), float(box[:, 0].max()))
        for box in result.boxes
    ]
    scored = list(zip(boxes, result.txts, result.scores, strict=True))
    pieces = [
        (top, bottom, left, text)
        for (top, bottom, left, _), text, score in scored
        if score >= _LEAST_CONFIDENCE and text.strip()
    ]
    certainty = sum(len(text.strip()) * (float(score) - _LEAST_CONFIDENCE) for _, text, score in scored)
    return _Recognised(pieces, image.height, certainty, _turn(boxes, on_its_head=engine.on_its_head))


@cache
def _engine() -> Any:
    from rapidocr import RapidOCR

    class Engine(RapidOCR):
        """Remembers of the last picture whether its lines had to be turned over to be read."""

        on_its_head = False

        def cls_and_rotate(self, img: list[Any]) -> Any:
            lines, orientation = super().cls_and_rotate(img)
            over = sum(label == "180" and score > _SURE for label, score in orientation.cls_res or ())
            self.on_its_head = over * 2 > len(img)
            return lines, orientation

    logging.getLogger("RapidOCR").setLevel(logging.ERROR)
    threads = {
        "EngineConfig.onnxruntime.intra_op_num_threads": 1,
        "EngineConfig.onnxruntime.inter_op_num_threads": 1,
    }
    return Engine(params={"Global.log_level": "error", **threads})


def _turn(boxes: Sequence[tuple[float, float, float, float]], *, on_its_head: bool) -> Image.Transpose | None:
    """The turn that sets a page upright; `boxes` are top, bottom, left and right of its lines.

    The engine turns tall lines by a quarter to the left before it looks whether they stand on their heads.
    """
    tall = sum(bottom - top > (right - left) * _TALL for top, bottom, left, right in boxes)
    if tall * 2 > len(boxes):
        return Image.Transpose.ROTATE_270 if on_its_head else Image.Transpose.ROTATE_90
    return Image.Transpose.ROTATE_180 if on_its_head else None


def _rows(pieces: list[tuple[float, float, float, str]]) -> list[tuple[float, float, str]]:
    """Pieces side by side are one line, from left to right: `(top, bottom, text)`."""
    rows: list[list[tuple[float, float, float, str]]] = []
    for piece in pieces:
        top, bottom = piece[0], piece[1]
        middle = (top + bottom) / 2
        row = rows[-1] if rows else None
        if row and row[0][0] <= middle <= row[0][1] and abs(top - row[0][0]) < (bottom - top) * _SAME_LINE:
            row.append(piece)
        else:
            rows.append([piece])
    return [
        (
            min(p[0] for p in row),
            max(p[1] for p in row),
            " ".join(p[3] for p in sorted(row, key=lambda p: p[2])),
        )
        for row in rows
    ]


_SECONDS_PER_PICTURE = 60.0
_SEEN, _LIGHT = 127, 160


def read(job: Job) -> Iterator[Block]:
    """One block for each paragraph that is recognised. Raises `TooLarge` over the limits on pixels and pages."""
    Image.MAX_IMAGE_PIXELS = None  # the check below is ours, and stricter
    with _damage(job), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        image = Image.open(job.path)
        pages = getattr(image, "n_frames", 1) if job.format is Format.TIFF else 1
    job.check_pages(pages, "pages")
    job.engine = ENGINE
    for number in range(1, pages + 1):
        if number > 1:
            with _damage(job):
                image.seek(number - 1)
        for lines in paragraphs(_loaded(job, image)):
            place = number if job.format is Format.TIFF else None
            yield Block(BlockKind.PARAGRAPH, "\n".join(lines), page=place)
        job.progress(number / pages)


@contextmanager
def _damage(job: Job) -> Iterator[None]:
    try:
        yield
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError) as error:
        raise job.unreadable("it is damaged or cut off") from error


def _loaded(job: Job, image: Image.Image) -> Image.Image:
    """The page that the image stands at: turned as its EXIF data says, scaled to what recognition needs, on a ground
    where it is transparent. The ground is white, or black where what is drawn is light: white letters on white could
    not be read."""
    width, height = image.size
    side = job.limits.ocr_side
    if width * height > job.limits.pixels:
        megapixels = job.limits.pixels // 1_000_000
        raise job.too_large(f"{width} x {height} pixels, {megapixels} million are allowed")
    job.earn(_SECONDS_PER_PICTURE)
    with _damage(job):
        image.draft("RGB", (side, side))
        image.load()
    image = ImageOps.exif_transpose(image)
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        layer = image.convert("RGBA")
        visible = layer.getchannel("A").point(lambda alpha: alpha > _SEEN and 255)
        drawn = ImageStat.Stat(layer.convert("L"), visible)
        light = bool(drawn.count[0]) and drawn.mean[0] > _LIGHT
        ground = Image.new("RGBA", layer.size, "black" if light else "white")
        image = Image.alpha_composite(ground, layer)
    image = image.convert("RGB")
    image.thumbnail((side, side))
    return image
