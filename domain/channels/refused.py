"""Why messages to an instance are not answered, beside the reasons of mail. Pure.

A reason concerns a message to the bot, which would be answered, had somebody else sent it or had it been sent
elsewhere: what is not said to the bot is not refused.
"""

CHANNEL = "channel"
"""It stands in a group or channel that `allowedChannels` does not name."""
NUMBER = "number"
"""It comes from a number that `allowedNumbers` does not name."""
BOT = "bot"
"""Another bot wrote it."""
NOT_VERIFIED = "not-verified"
"""Its sender is no verified user, and `accessMode` is `allowlist`."""
