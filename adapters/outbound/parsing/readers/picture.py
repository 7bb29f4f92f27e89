"""Pictures: their text is recognised. Of an animation the first frame is read."""

import warnings
from collections.abc import Iterator

from PIL import Image, ImageOps, ImageStat, UnidentifiedImageError

from adapters.outbound.parsing.engines import ocr
from adapters.outbound.parsing.reading import Job, Reading
from domain.knowledge.documents import Block, BlockKind

_SECONDS_PER_PICTURE = 60.0
_SEEN, _LIGHT = 127, 160

warm = ocr.warm


def read(job: Job) -> Reading:
    """One block for each paragraph that is recognised. Raises `TooLarge` over the limit on pixels."""
    image = _opened(job)
    job.earn(_SECONDS_PER_PICTURE)
    return Reading(_blocks(image), engine=ocr.ENGINE)


def _opened(job: Job) -> Image.Image:
    Image.MAX_IMAGE_PIXELS = None  # the check below is ours, and stricter
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            image = Image.open(job.path)
        width, height = image.size
        if width * height > job.limits.pixels:
            megapixels = job.limits.pixels // 1_000_000
            raise job.too_large(f"{width} x {height} pixels, {megapixels} million are allowed")
        image.draft("RGB", (job.limits.ocr_side, job.limits.ocr_side))
        image.load()
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError) as error:
        raise job.unreadable(f"it is damaged ({error})") from error
    return _upright(image, job.limits.ocr_side)


def _upright(image: Image.Image, side: int) -> Image.Image:
    """Turned as its EXIF data says, on a ground where it is transparent, scaled to what recognition needs."""
    image = ImageOps.exif_transpose(image)
    if image.mode in ("RGBA", "LA", "PA") or "transparency" in image.info:
        image = _on_background(image.convert("RGBA"))
    image = image.convert("RGB")
    image.thumbnail((side, side))
    return image


def _on_background(layer: Image.Image) -> Image.Image:
    """On white, or on black where what is drawn is light: white letters on white could not be read."""
    drawn = ImageStat.Stat(
        layer.convert("L"), layer.getchannel("A").point(lambda alpha: alpha > _SEEN and 255)
    )
    light = bool(drawn.count[0]) and drawn.mean[0] > _LIGHT
    return Image.alpha_composite(Image.new("RGBA", layer.size, "black" if light else "white"), layer)


def _blocks(image: Image.Image) -> Iterator[Block]:
    for lines in ocr.paragraphs(image):
        yield Block(BlockKind.PARAGRAPH, "\n".join(lines))
