"""Text in pictures, by RapidOCR (its models lie in its wheel; no network)."""

import logging
from collections.abc import Sequence
from functools import cache
from typing import Any

from PIL import Image

ENGINE = "rapidocr"
_LEAST_CONFIDENCE = 0.5
_SAME_LINE = 0.5
_PARAGRAPH_GAP = 1.0
_TALL = 1.5
_SURE = 0.9


def warm() -> None:
    """Imports what recognising needs, without a model and without a thread."""
    import cv2
    import onnxruntime  # noqa: F401
    import rapidocr  # noqa: F401

    cv2.setNumThreads(1)


def paragraphs(image: Image.Image) -> list[list[str]]:
    """Paragraphs of lines, in reading order, also where the page is turned or stands on its head."""
    import numpy

    engine = _engine()
    result = engine(numpy.asarray(image.convert("RGB"))[:, :, ::-1])
    if result.boxes is None or result.txts is None:
        return []
    boxes = [_extent(box) for box in result.boxes]
    upright = _upright(boxes, on_its_head=engine.on_its_head)
    pieces = [
        (*place, text)
        for place, text, score in zip(upright, result.txts, result.scores, strict=True)
        if score >= _LEAST_CONFIDENCE and text.strip()
    ]
    return _gathered(_rows(sorted(pieces)))


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


def _extent(box: Any) -> tuple[float, float, float, float]:
    """Top, bottom, left, right."""
    return float(box[:, 1].min()), float(box[:, 1].max()), float(box[:, 0].min()), float(box[:, 0].max())


def _upright(
    boxes: Sequence[tuple[float, float, float, float]], *, on_its_head: bool
) -> list[tuple[float, float, float]]:
    """Top, bottom and left of each line as they would be with the page upright.

    The recogniser turns tall lines by a quarter to the left before it looks whether they stand on their head.
    """
    tall = sum(bottom - top > (right - left) * _TALL for top, bottom, left, right in boxes)
    if tall * 2 > len(boxes):
        if on_its_head:  # the text runs upwards
            return [(left, right, -bottom) for top, bottom, left, right in boxes]
        return [(-right, -left, top) for top, bottom, left, right in boxes]
    if on_its_head:
        return [(-bottom, -top, -right) for top, bottom, left, right in boxes]
    return [(top, bottom, left) for top, bottom, left, right in boxes]


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


def _gathered(rows: list[tuple[float, float, str]]) -> list[list[str]]:
    paragraphs: list[list[str]] = []
    last_bottom = 0.0
    for top, bottom, text in rows:
        if paragraphs and top - last_bottom <= (bottom - top) * _PARAGRAPH_GAP:
            paragraphs[-1].append(text)
        else:
            paragraphs.append([text])
        last_bottom = bottom
    return paragraphs
