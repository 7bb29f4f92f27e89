"""What each markup makes of the same small piece of Markdown."""

import pytest

from adapters.outbound.rendering import Markup, render

SOURCE = "**b** *i* ~~s~~ `c` [t](https://x.y/a_b) <u> & \\*"


@pytest.mark.parametrize(
    ("markup", "text"),
    [
        (Markup.MRKDWN, "*b* _i_ ~s~ `c` <https://x.y/a_b|t> &lt;u&gt; &amp; *"),
        (
            Markup.TELEGRAM_HTML,
            '<b>b</b> <i>i</i> <s>s</s> <code>c</code> <a href="https://x.y/a_b">t</a> &lt;u&gt; &amp; *',
        ),
        (Markup.TELEGRAM_MARKDOWN, r"*b* _i_ s `c` [t](https://x.y/a_b) <u> & \*"),
        (Markup.TELEGRAM_MARKDOWNV2, r"*b* _i_ ~s~ `c` [t](https://x.y/a_b) <u\> & \*"),
        (Markup.DISCORD, r"**b** _i_ ~~s~~ `c` [t](https://x.y/a_b) \<u> & \*"),
        (Markup.WHATSAPP, "*b* _i_ ~s~ `c` t (https://x.y/a_b) <u> & *"),
        (Markup.MATTERMOST, r"**b** _i_ ~~s~~ `c` [t](https://x.y/a_b) <u> & \*"),
        (Markup.TEAMS, r"**b** _i_ ~~s~~ `c` [t](https://x.y/a_b) &lt;u> &amp; \*"),
        (Markup.PLAIN, "b i s c t (https://x.y/a_b) <u> & *"),
    ],
)
def test_inline_formatting(markup: Markup, text: str) -> None:
    (message,) = render(markup, SOURCE, None)

    assert message.text == text
    assert message.plain == "b i s c t (https://x.y/a_b) <u> & *"


def test_mail_is_html_with_a_text_alternative() -> None:
    (message,) = render(Markup.EMAIL, SOURCE, None)

    assert '<a href="https://x.y/a_b">t</a> &lt;u&gt; &amp; *' in message.text
    assert message.plain == "b i s c t (https://x.y/a_b) <u> & *"


@pytest.mark.parametrize("markup", list(Markup))
def test_nothing_to_see_is_no_message(markup: Markup) -> None:
    assert render(markup, " \n\n", None) == []
