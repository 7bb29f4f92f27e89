"""CSV and its relatives with another delimiter (RFC 4180)."""

import csv
import io
import itertools
from collections import Counter
from collections.abc import Iterator, Sequence

from adapters.outbound.parsing.reading import Job, Reading
from adapters.outbound.parsing.tables import rows_to_blocks
from adapters.outbound.parsing.text import decode

_DELIMITERS = ",;\t|"
_SAMPLE_CHARS = 65_536
_SAMPLE_ROWS = 200


def read(job: Job) -> Reading:
    """One block for each record; quoted fields may hold delimiters and line breaks, records be ragged."""
    text = decode(job).lstrip("\ufeff")
    csv.field_size_limit(job.limits.text_chars)
    return Reading(rows_to_blocks(_rows(job, text, _delimiter(text))))


def _rows(job: Job, text: str, delimiter: str) -> Iterator[tuple[int, Sequence[str]]]:
    source = io.StringIO(text.replace("\x00", ""), newline="")
    for number, row in enumerate(csv.reader(source, delimiter=delimiter), start=1):
        if number > job.limits.rows:
            raise job.too_large(f"it holds more than {job.limits.rows:,} rows")
        yield number, row


def _delimiter(text: str) -> str:
    """The one that cuts the first records into the steadiest number of columns, above one."""
    first = text.lstrip().partition("\n")[0].strip().lower()
    if first.startswith("sep=") and len(first) == 5:
        return first[4]
    sample = text[:_SAMPLE_CHARS]
    return max(_DELIMITERS, key=lambda delimiter: _steadiness(sample, delimiter))


def _steadiness(sample: str, delimiter: str) -> tuple[float, int]:
    reader = csv.reader(io.StringIO(sample.replace("\x00", ""), newline=""), delimiter=delimiter)
    widths = [len(row) for row in itertools.islice(reader, _SAMPLE_ROWS) if row]
    if not widths:
        return (0.0, 0)
    width, times = Counter(widths).most_common(1)[0]
    return (times / len(widths), width) if width > 1 else (0.0, 0)
