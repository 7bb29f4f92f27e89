"""Pictures: their text is recognised. Of an animation the first frame is read, of a TIFF every page."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager

from PIL import Image, ImageOps, ImageStat, UnidentifiedImageError

from adapters.outbound.parsing.engines import ocr
from adapters.outbound.parsing.reading import Job, Reading
from domain.knowledge.documents import Block, BlockKind, Format

_SECONDS_PER_PICTURE = 60.0
_SEEN, _LIGHT = 127, 160

warm = ocr.warm


def read(job: Job) -> Reading:
    """One block for each paragraph that is recognised. Raises `TooLarge` over the limits on pixels and pages."""
    Image.MAX_IMAGE_PIXELS = None  # the check below is ours, and stricter
    with _damage(job), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        image = Image.open(job.path)
        pages = getattr(image, "n_frames", 1) if job.format is Format.TIFF else 1
    if pages > job.limits.pages:
        raise job.too_large(f"it has {pages:,} pages, {job.limits.pages:,} are allowed")
    first = _loaded(job, image)
    return Reading(_blocks(job, image, first, pages), engine=ocr.ENGINE)


@contextmanager
def _damage(job: Job) -> Iterator[None]:
    try:
        yield
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, EOFError) as error:
        raise job.unreadable("it is damaged or cut off") from error


def _loaded(job: Job, image: Image.Image) -> Image.Image:
    """The page that the image stands at, upright."""
    width, height = image.size
    if width * height > job.limits.pixels:
        megapixels = job.limits.pixels // 1_000_000
        raise job.too_large(f"{width} x {height} pixels, {megapixels} million are allowed")
    job.earn(_SECONDS_PER_PICTURE)
    with _damage(job):
        image.draft("RGB", (job.limits.ocr_side, job.limits.ocr_side))
        image.load()
    return _upright(image, job.limits.ocr_side)


def _blocks(job: Job, image: Image.Image, first: Image.Image, pages: int) -> Iterator[Block]:
    for number in range(1, pages + 1):
        if number > 1:
            with _damage(job):
                image.seek(number - 1)
        page = first if number == 1 else _loaded(job, image)
        for lines in ocr.paragraphs(page):
            place = number if job.format is Format.TIFF else None
            yield Block(BlockKind.PARAGRAPH, "\n".join(lines), page=place)
        job.progress(number / pages)


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
