"""Charts of Office files (DrawingML, ISO/IEC 29500-1, 21.2) in words."""

from collections.abc import Iterator, Mapping
from typing import Any

from adapters.outbound.parsing.cleaning import one_line
from adapters.outbound.parsing.number_formats import GENERAL, displayed

_MOST_POINTS = 20_000


def chart_lines(root: Any) -> Iterator[str]:
    """The titles of a chart and its axes, then a line for each category: "East: Tonnes 1.5, Ships 3"."""
    for title in root.iter("{*}title"):
        if text := one_line("".join(title.itertext("{*}t", "{*}v"))):
            yield text
    lines: dict[str, list[str]] = {}
    names: list[str] = []
    for number, series in enumerate(root.iter("{*}ser")):
        name = one_line(" ".join(series.xpath("./*[local-name()='tx']//*[local-name()='v']/text()")))
        names.append(name)
        categories = _points(series, "cat", "xVal")
        for index, value in _points(series, "val", "yVal").items():
            category = categories.get(index) or str(index + 1)
            lines.setdefault(category, []).append(f"{name} {value}".strip() or str(number))
    yield from (f"{category}: {', '.join(values)}" for category, values in lines.items())
    if not lines:
        yield from filter(None, (*names, one_line(" ".join(root.itertext("{*}pt")))))


def _points(series: Any, *roles: str) -> Mapping[int, str]:
    """The stored values of a series by their index; of categories on several levels, those of the lowest."""
    holder = next((child for role in roles for child in series.iterchildren(f"{{*}}{role}")), None)
    if holder is None:
        return {}
    code = holder.findtext(".//{*}formatCode") or GENERAL
    level = next(holder.iter("{*}lvl"), holder)
    points: dict[int, str] = {}
    for point in level.iter("{*}pt"):
        index = point.get("idx", "")
        if index.isdecimal() and len(points) < _MOST_POINTS:
            points[int(index)] = _shown(point.findtext("{*}v") or "", point.get("formatCode") or code)
    return points


def _shown(value: str, code: str) -> str:
    try:
        return displayed(float(value), code)
    except ValueError:
        return one_line(value)
