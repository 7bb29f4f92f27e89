"""The last resort against loops: we and a machine answer each other, over and over. Pure.

A *round* is an event of a conversation that arrived after a reply of ours to an earlier event of it. What one poll
finds arrives together: however many events that are, they are one round at most. Only events count that no person
is known to have caused: records, mails and files that look like answers, whoever changed or sent them, and messages
of senders of whom the platform does not say whether they are people. Messages of users of a chat platform are a
person's, and so are other files; calls of a webhook and firings of a schedule are made on
purpose. None of these is counted, and all begin the count anew.

A machine that answers mail may begin a new conversation each time, as absence notices do: with mail the rounds of
all conversations with one address count as well.
"""

MOST_ROUNDS = 12
"""Rounds within `WINDOW` that are answered."""
WINDOW = 60.0
"""Seconds; so long must a stopped conversation have been silent before it is answered again."""

STOPPED = (
    f"stopped a loop: the conversation had more than {MOST_ROUNDS} rounds of event and answer within a minute "
    "without a message of a person; it is answered again after a minute without events"
)


class LoopStopped(Exception):
    """An event that is not answered, as its conversation runs in a loop."""
