"""Markdown as HTML that can do no harm: no HTML of the author's, no pictures, links to other hosts alone."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from urllib.parse import urlsplit

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.utils import EnvType, OptionsDict

from domain.rendering import is_read_as_markdown

SCHEMES = ("http", "https", "mailto", "tel")


@dataclass(frozen=True, slots=True)
class Markdown:
    """A text that templates show as HTML. All in it that is no Markdown is escaped."""

    text: str

    def __html__(self) -> str:
        if not is_read_as_markdown(self.text):
            return f'<p class="plain-text">{escape(self.text)}</p>'
        return str(_parser().render(self.text))


@lru_cache(1)
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True})
    parser.enable(["table", "strikethrough"]).disable("image")
    parser.add_render_rule("link_open", _link)
    for name in ("heading_open", "heading_close"):
        parser.add_render_rule(name, _heading)
    return parser


def _link(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType
) -> str:
    """One that leads nowhere where its address is of another kind."""
    token = tokens[place]
    try:
        is_allowed = urlsplit(str(token.attrs["href"])).scheme in SCHEMES
    except ValueError:
        is_allowed = False
    token.attrs = {"href": token.attrs["href"]} if is_allowed else {}
    token.attrs |= {"rel": "noopener noreferrer nofollow", "target": "_blank"}
    return renderer.renderToken(tokens, place, options, env)


def _heading(
    renderer: RendererHTML, tokens: Sequence[Token], place: int, options: OptionsDict, env: EnvType
) -> str:
    """Headings of an answer are none of the page."""
    return "<p><strong>" if tokens[place].nesting > 0 else "</strong></p>\n"
