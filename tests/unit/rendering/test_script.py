"""The length that a stretch is said to have is the length it has."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.rendering import Markup
from adapters.outbound.rendering.composing import compose
from adapters.outbound.rendering.parsing import parsed
from adapters.outbound.rendering.rendering import _DIALECTS
from adapters.outbound.rendering.script import RenderedText
from domain.channels.model import Unit
from domain.routing.cutting import measure

SOURCE = """\
# Title *x* `y`

Text **bold *both* bold** and `code` [link *x*](https://a.b/c) end & <end> 👨‍👩‍👧

> quote **with**
> lines
>
> ```py
> code & `x`
> ```

1. one
2. two

| a | b |
|---|---|
| x | **y** z |

- plain
"""


@pytest.mark.parametrize("unit", list(Unit))
@pytest.mark.parametrize("markup", list(_DIALECTS))
@given(data=st.data())
def test_length_is_the_measure_of_the_text(markup: Markup, unit: Unit, data: st.DataObject) -> None:
    flow = compose(parsed(SOURCE), _DIALECTS[markup], None)
    script = RenderedText(flow, _DIALECTS[markup], unit)
    start = data.draw(st.integers(0, len(flow.text) - 2))
    end = data.draw(st.integers(start + 1, len(flow.text)))

    assert script.length(start, end) == measure(script.text(start, end), unit)


def test_a_stretch_in_a_list_is_at_most_as_long_as_said() -> None:
    dialect = _DIALECTS[Markup.MATTERMOST]
    flow = compose(parsed("- a\n  - b\n    - c\n      - d\n  - e"), dialect, None)
    script = RenderedText(flow, dialect, Unit.CHARACTERS)
    start = flow.text.index("    - c")

    assert script.text(start, len(flow.text)) == "- c\n  - d\n  - e"
    assert script.length(start, len(flow.text)) == len("    - c\n      - d\n  - e")
