"""Which messages open a closed conversation again."""

from domain.channels.messages import Event
from domain.feedback.model import is_thumb


def opens_again(event: Event) -> bool:
    """Return True for what a person writes, sends or picks: no edit, no reaction or vote, and nothing of a program.

    Mail always comes without a sign of a person, but names who gets the reply; mail of machines is refused. Where the
    platform is asked who wrote, a conversation is open again once the message was worked on.
    """
    is_vote = bool(event.reaction) or (event.choice is not None and is_thumb(event.choice))
    is_of_program = bool(event.refused) or (event.automated and not event.correspondent)
    return not (is_vote or is_of_program or event.change or event.only_decides)
