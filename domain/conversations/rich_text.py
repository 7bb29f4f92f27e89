"""Rich content as Markdown text, for platforms that do not show it natively. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from domain.addresses import is_private
from domain.channels.answers import Answer
from domain.channels.rich import Card, Contact, Form, LinkButton, Location, RichContent, RichKind
from domain.conversations.choices import literal

MAP = "https://www.openstreetmap.org/?mlat={0:.6f}&mlon={1:.6f}#map=16/{0:.6f}/{1:.6f}"


def with_text(answer: Answer, native: frozenset[RichKind] = frozenset()) -> Answer:
    """The answer with the kinds of its rich content that are not `native` as text, after its own text and before a
    question. The text of a form is its title and fields. Where a platform reads the pictures of cards, those at
    private addresses are links."""
    if answer.rich is None:
        return answer
    kept = answer.rich.only(native)
    if native != frozenset(RichKind):  # else a program gets all as it is
        kept = replace(kept, cards=tuple(map(_with_public_picture, kept.cards)))
    shown = answer.rich.only(frozenset(RichKind) - native)
    before = answer.text.removesuffix(answer.question).rstrip()
    text = "\n\n".join(filter(None, (before, *_paragraphs(shown), answer.question)))
    return replace(answer, text=text, rich=None if kept.is_empty else kept)


def _with_public_picture(card: Card) -> Card:
    if not is_private(card.picture):
        return card
    text = "\n\n".join(filter(None, (card.text.strip(), link("Picture", card.picture))))
    return replace(card, text=text, picture="")


def _paragraphs(content: RichContent) -> Iterator[str]:
    for card in content.cards:
        yield card_text(card)
    if content.location:
        yield location_text(content.location)
    if content.contact:
        yield contact_text(content.contact)
    if content.buttons:
        yield links_text(content.buttons)
    if content.form:
        yield form_text(content.form)


def card_text(card: Card) -> str:
    fields = "\n".join(
        f"- {literal(field.name)}: {literal(' '.join(field.value.split()))}" for field in card.fields
    )
    picture = link("Picture", card.picture) if card.picture else ""
    kinds = (f"**{literal(card.title)}**", card.text.strip(), fields, picture, links_text(card.buttons))
    return "\n\n".join(filter(None, kinds))


def location_text(location: Location) -> str:
    name = literal(location.name or location.address or "Location")
    address = literal(location.address) if location.name else ""
    place = link("Map", map_address(location))
    return "\n\n".join(filter(None, (f"**{name}**", address, place)))


def map_address(location: Location) -> str:
    return MAP.format(location.latitude, location.longitude)


def contact_text(contact: Contact) -> str:
    entries = [*contact.phones, *contact.emails]
    return "\n".join([f"**{literal(contact.name)}**", "", *(f"- {literal(entry)}" for entry in entries)])


def form_text(form: Form) -> str:
    lines = []
    for field in form.fields:
        options = ", ".join(option.label for option in field.options)
        lines.append(f"- {literal(f'{field.label}: {options}' if options else field.label)}")
    return "\n\n".join(filter(None, (f"**{literal(form.title)}**", form.text.strip(), "\n".join(lines))))


def links_text(buttons: Sequence[LinkButton]) -> str:
    return "\n".join(f"- {link(button.label, button.url)}" for button in buttons)


def link(label: str, url: str) -> str:
    address = (
        url.replace(" ", "%20")
        .replace("(", "%28")
        .replace(")", "%29")
        .replace("<", "%3C")
        .replace(">", "%3E")
    )
    return f"[{literal(label)}]({address})"
