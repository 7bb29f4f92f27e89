"""E-mail: an HTML document and the plain text beside it."""

from collections.abc import Sequence
from html import escape

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode
from markdown_it.utils import EnvType, OptionsDict

from adapters.outbound.rendering.composing import compose
from adapters.outbound.rendering.markup_writer import Layout
from adapters.outbound.rendering.model import Rendered
from adapters.outbound.rendering.parsing import is_safe, tokens
from adapters.outbound.rendering.platform_writers import Plain
from adapters.outbound.rendering.rendered_text import RenderedText
from domain.channels.model import Unit
from domain.rendering import is_read_as_markdown

_STYLES = {
    "blockquote_open": "margin:0 0 1em;padding-left:1em;border-left:3px solid #ccc;color:#555",
    "table_open": "border-collapse:collapse;margin-bottom:1em",
    "th_open": "border:1px solid #ccc;padding:4px 8px",
    "td_open": "border:1px solid #ccc;padding:4px 8px",
}
_CODE_STYLE = "background:#f5f5f5;padding:8px;overflow:auto;font-family:monospace"
_OPTIONS = MarkdownIt("js-default", {"breaks": True}).options


class PlainMail(Plain):
    """The text alternative of a mail: read in wide windows, where aligned tables hold."""

    layout = Layout(bullet="- ", indent=2, rule="----------", table_width=76)


def render_email(markdown: str) -> list[Rendered]:
    """The whole text as one message; none for a text without anything to see."""
    if markdown.strip() and not is_read_as_markdown(markdown):
        return [
            Rendered(_document(f'<div style="white-space:pre-wrap">{escape(markdown)}</div>\n'), markdown)
        ]
    writer = PlainMail()
    parsed = tokens(markdown)
    styled = compose(SyntaxTreeNode(parsed).children, writer, None)
    end = len(styled.text.rstrip())
    if not end:
        return [Rendered(_document(f"<p>{escape(markdown)}</p>\n"), markdown)] if markdown.strip() else []
    body = _Html().render(parsed, _OPTIONS, {})
    return [Rendered(_document(body), RenderedText(styled, writer, Unit.CHARACTERS).text(0, end))]


def _document(body: str) -> str:
    return (
        '<!DOCTYPE html>\n<html>\n<head><meta charset="utf-8"></head>\n'
        f'<body style="font-family:sans-serif;line-height:1.4">\n{body}</body>\n</html>\n'
    )


class _Html(RendererHTML):
    """Markdown-it's HTML without pictures fetched from afar and with safe links alone."""

    def renderToken(  # noqa: N802 (the name is markdown-it's)
        self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType
    ) -> str:
        token = tokens[idx]
        style = _STYLES.get(token.type)
        if style:
            token.attrSet("style", f"{style};{token.attrs.get('style', '')}".rstrip(";"))
        return super().renderToken(tokens, idx, options, env)

    def link_open(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        address = str(tokens[idx].attrs["href"])
        env["address"] = address
        return f'<a href="{escape(address)}">' if is_safe(address) else ""

    def link_close(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        address = env.pop("address")
        return "</a>" if is_safe(address) else f" ({escape(address)})"

    def image(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        token = tokens[idx]
        address = str(token.attrs["src"])
        label = escape(self.renderInlineAsText(token.children or [], options, env) or address)
        if "address" in env:
            return label
        return (
            f'<a href="{escape(address)}">{label}</a>' if is_safe(address) else f"{label} ({escape(address)})"
        )

    def fence(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return f'<pre style="{_CODE_STYLE}"><code>{escape(tokens[idx].content)}</code></pre>\n'

    def code_block(self, tokens: Sequence[Token], idx: int, options: OptionsDict, env: EnvType) -> str:
        return self.fence(tokens, idx, options, env)
