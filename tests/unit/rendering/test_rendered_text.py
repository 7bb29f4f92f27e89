"""The length that a stretch is said to have is the length it has."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.outbound.rendering import Markup
from adapters.outbound.rendering.composing import compose
from adapters.outbound.rendering.cutting import measure
from adapters.outbound.rendering.parsing import parsed
from adapters.outbound.rendering.rendered_text import RenderedText
from adapters.outbound.rendering.rendering import WRITERS
from domain.channels.model import Unit

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
@pytest.mark.parametrize("markup", list(WRITERS))
@given(data=st.data())
def test_length_is_the_measure_of_the_text(markup: Markup, unit: Unit, data: st.DataObject) -> None:
    styled = compose(parsed(SOURCE), WRITERS[markup], None)
    rendered = RenderedText(styled, WRITERS[markup], unit)
    start = data.draw(st.integers(0, len(styled.text) - 2))
    end = data.draw(st.integers(start + 1, len(styled.text)))

    assert rendered.length(start, end) == measure(rendered.text(start, end), unit)


def test_a_stretch_in_a_list_is_at_most_as_long_as_said() -> None:
    writer = WRITERS[Markup.MATTERMOST]
    styled = compose(parsed("- a\n  - b\n    - c\n      - d\n  - e"), writer, None)
    rendered = RenderedText(styled, writer, Unit.CHARACTERS)
    start = styled.text.index("    - c")

    assert rendered.text(start, len(styled.text)) == "- c\n  - d\n  - e"
    assert rendered.length(start, len(styled.text)) == len("    - c\n      - d\n  - e")
