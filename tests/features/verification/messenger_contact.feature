@s4.5 @s8
Feature: Verification by the messenger's contact
  A deep link opens the verification bot, which asks for the user's own contact. It is valid for 300 seconds.

  Scenario: The own contact is shared
    Given Ann started the bot and opened its link
    Then the bot asks for the contact with a button, naming Ann
    When the messenger user shares the own contact +4915112345678
    Then Ann has the identities phone, bot-messenger and business-messaging
    And the bot says "verified"

  Scenario: Somebody else's contact is shared
    Given Ann started the bot and opened its link
    When the messenger user shares another's contact +4915112345678
    Then the bot says "your own contact"
    And the button to share it is still there
    And Ann has no identity

  Scenario: A contact that a messenger user typed or forwarded has no owner
    Given Ann started the bot and opened its link
    When the messenger user shares nobody's contact +4915112345678
    Then the bot says "your own contact"
    And Ann has no identity

  Scenario: The link is valid for 300 seconds
    Given Ann started the bot and opened its link
    When 300 seconds pass
    And the messenger user shares the own contact +4915112345678
    Then Ann has no identity

  Scenario: A link that is opened too late
    Given Ann started the bot
    When 300 seconds pass
    And the messenger user opens the link
    Then the bot says "expired"

  Scenario: A link is good once
    Given Ann started the bot and opened its link
    And the messenger user shared the own contact +4915112345678
    When the messenger user opens the link
    Then the bot says "used already"

  Scenario: An unknown token
    When the messenger user sends "/start no-such-token"
    Then the bot says "Ask for a new one"

  Scenario Outline: Anything else is answered in a friendly way
    When the messenger user sends "<text>"
    Then the bot says "start the verification on the platform"

    Examples:
      | text        |
      | /start      |
      | hello there |

  @grpc
  Scenario: A bot of its own completes with the internal service key
    Given Ann started the bot
    When a service completes it with its key for +4915112345678
    Then Ann has the identities phone, bot-messenger and business-messaging

  Scenario: A user cannot complete it
    Given Ann started the bot
    When Bob completes it for +4915112345678
    Then it is refused as forbidden
    And Ann has no identity

  Scenario: The webhook of the bot needs its secret token
    When somebody calls the bot's webhook without its secret token
    Then it is refused as not known
