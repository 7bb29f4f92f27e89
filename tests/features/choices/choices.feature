Feature: Choices
  A resource may offer replies to choose from. They are buttons where the platform has buttons, and a numbered list
  elsewhere. What is chosen reaches the resource as a message with the value of the choice.

  Rule: A press is a message of the person who pressed

    Scenario Outline: A choice is pressed on <platform>
      Given a resource that offers "Small" for "size-s" and "Large" for "size-l"
      When "ada" writes "a shirt" on <platform>
      Then the message has the buttons "Small" and "Large"
      When "ada" presses "Large"
      Then the resource gets "size-l" as a choice of "ada"

      Examples:
        | platform |
        | Slack    |
        | Teams    |
        | Discord  |
        | Telegram |
        | Mattermost |
        | WhatsApp |

    Scenario Outline: Somebody else of a group presses on <platform>
      Given a resource that offers "Small" for "size-s" and "Large" for "size-l"
      When "ada" writes "a shirt" on <platform>
      And "bob" presses "Small"
      Then the resource gets "size-s" as a choice of "bob"
      And "bob" is told "You chose: Small"
      And the message keeps its buttons

      Examples:
        | platform |
        | Slack    |
        | Teams    |
        | Discord  |
        | Telegram |
        | Mattermost |

    Scenario Outline: A value that is far too long for a button of <platform>
      Given a resource that offers "Small" for a value of 2000 characters
      When "ada" writes "a shirt" on <platform>
      And "ada" presses "Small"
      Then the resource gets the value of 2000 characters as a choice of "ada"

      Examples:
        | platform |
        | Slack    |
        | Teams    |
        | Discord  |
        | Telegram |
        | Mattermost |
        | WhatsApp |

    Scenario Outline: Labels that are too long for <platform> are cut
      Given a resource that offers "Bring it to my neighbour on the left side of the street, who is always at home after six o'clock" for "left"
      When "ada" writes "a shirt" on <platform>
      And "ada" presses the button that begins with "Bring it to my"
      Then the resource gets "left" as a choice of "ada"

      Examples:
        | platform |
        | Slack    |
        | Teams    |
        | Discord  |
        | Telegram |
        | Mattermost |
        | WhatsApp |

    Scenario Outline: The buttons of an earlier message on <platform>
      Given a resource that offers "Small" for "size-s" and "Large" for "size-l"
      When "ada" writes "a shirt" on <platform>
      And "ada" writes "a coat"
      And "ada" presses "Small" of the first message
      Then the resource gets "size-s" as a choice of "ada"

      Examples:
        | platform |
        | Slack    |
        | Teams    |
        | Discord  |
        | Telegram |
        | Mattermost |
        | WhatsApp |

    Scenario: Ten choices on WhatsApp are the rows of a list
      Given a resource that offers 10 choices
      When "ada" writes "a shirt" on WhatsApp
      And "ada" presses "Choice 10"
      Then the resource gets "value 10" as a choice of "ada"

    Scenario Outline: A direct conversation on <platform> shows what was chosen
      Given a resource that offers "Small" for "size-s" and "Large" for "size-l"
      When "ada" writes "a shirt" to the bot alone on <platform>
      And "ada" presses "Large"
      Then the resource gets "size-l" as a choice of "ada"
      And the message reads "Which one?" and "Large", without buttons

      Examples:
        | platform |
        | Slack    |
        | Teams    |
        | Discord  |
        | Telegram |
        | Mattermost |

    Scenario: An answer that takes several messages keeps its text and its buttons
      Given a resource that offers "Small" for "size-s" with an answer of several messages
      When "ada" writes "a shirt" to the bot alone on Telegram
      And "ada" presses "Small"
      Then the resource gets "size-s" as a choice of "ada"
      And the message keeps its buttons

  Rule: A choice counts once, however often it is pressed

    Scenario Outline: A button is pressed twice <when> on <platform>
      Given a resource that offers "Small" for "size-s" and "Large" for "size-l"
      When "ada" writes "a shirt" to the bot alone on <platform>
      And "ada" presses "Large" twice, <when>
      Then the resource gets "size-l" as a choice of "ada", once

      Examples:
        | platform   | when          |
        | Telegram   | at once       |
        | Telegram   | after a while |
        | Slack      | at once       |
        | Slack      | after a while |
        | Teams      | at once       |
        | Discord    | at once       |
        | Mattermost | at once       |
        | WhatsApp   | at once       |
        | WhatsApp   | after a while |

    Scenario: Somebody of a group presses twice
      Given a resource that offers "Small" for "size-s" and "Large" for "size-l"
      When "ada" writes "a shirt" on Telegram
      And "ada" presses "Large" twice, at once
      Then the resource gets "size-l" as a choice of "ada", once

    Scenario: Another button of a message that keeps its buttons
      Given a resource that offers "Small" for "size-s" and "Large" for "size-l"
      When "ada" writes "a shirt" to the bot alone on WhatsApp
      And "ada" presses "Large"
      And "ada" presses "Small" of the first message
      Then the resource gets "size-s" as a choice of "ada"

    Scenario: The choice of a message sent first is pressed twice
      Given a conversation of "ada" on Telegram
      When "Which one?" is sent to it first with the choices "Small" for "size-s" and "Large" for "size-l"
      And "ada" presses "Large" twice, after a while
      Then the resource gets "size-l" as a choice of "ada", once

    Scenario: A press that failed may be repeated
      Given a resource that offers "Small" for "size-s" and "Large" for "size-l"
      When "ada" writes "a shirt" to the bot alone on WhatsApp
      And "ada" presses "Large", and the resource fails
      And "ada" presses "Large"
      Then the resource gets "size-l" as a choice of "ada", again

  Rule: A button that nobody offered does nothing

    Scenario Outline: An invented button on <platform>
      Given a resource that offers "Small" for "size-s" and "Large" for "size-l"
      When "ada" writes "a shirt" on <platform>
      And "ada" presses a button that was never offered
      Then "ada" is told "This choice is no longer known."
      And the resource is not called again

      Examples:
        | platform |
        | Slack    |
        | Teams    |
        | Discord  |
        | Telegram |
        | WhatsApp |

    Scenario: A button of another instance
      Given a resource that offers "Small" for "size-s" and "Large" for "size-l"
      When "ada" writes "a shirt" on Telegram
      And "ada" presses "Small", and the press reaches another instance
      Then "ada" is told "This choice is no longer known."
      And the resource is not called again

    Scenario Outline: A message on <platform> that is not kept any more
      Given a resource that offers "Small" for "size-s" and "Large" for "size-l"
      When "ada" writes "a shirt" on <platform>
      And the conversation of "ada" is erased
      And "ada" presses "Small"
      Then "ada" is told "This choice is no longer known."
      And the resource is not called again

      Examples:
        | platform   |
        | Telegram   |
        | Mattermost |

  Rule: Where there are no buttons the number or the label is typed

    Scenario Outline: <typed> is typed on SMS
      Given a resource that offers "Small" for "size-s" and "Large" for "size-l"
      When "ada" writes "a shirt" on SMS
      Then "ada" reads "Which one?", "1. Small" and "2. Large"
      When "ada" writes "<typed>"
      Then the resource gets "size-l" as a choice of "ada"

      Examples:
        | typed |
        | 2     |
        | 2.    |
        | large |

    Scenario Outline: <typed> picks nothing on SMS
      Given a resource that offers "Small" for "size-s" and "Large" for "size-l"
      When "ada" writes "a shirt" on SMS
      And "ada" writes "<typed>"
      Then the resource gets "<typed>" as a message of "ada"

      Examples:
        | typed     |
        | 3         |
        | 0         |
        | 2 shirts  |
        | very large |

    Scenario: A number after another answer is a message like any other
      Given a resource that offers "Small" for "size-s" and "Large" for "size-l"
      When "ada" writes "a shirt" on SMS
      And "ada" writes "thank you"
      And "ada" writes "2"
      Then the resource gets "2" as a message of "ada"

    Scenario: A number of somebody else
      Given a resource that offers "Small" for "size-s" and "Large" for "size-l"
      When "ada" writes "a shirt" on SMS
      And "bob" writes "2"
      Then the resource gets "2" as a message of "bob"

    Scenario: A number where there were buttons
      Given a resource that offers "Small" for "size-s" and "Large" for "size-l"
      When "ada" writes "a shirt" on Telegram
      And "ada" writes "2"
      Then the resource gets "2" as a message of "ada"

    Scenario: More choices than a message of Teams has buttons
      Given a resource that offers 10 choices
      When "ada" writes "a shirt" on Teams
      And "ada" writes "10"
      Then the resource gets "value 10" as a choice of "ada"

  Rule: A choice decides no question about a tool

    Scenario: A choice that reads like an approval
      Given a resource that offers "Yes" for "yes" and "No" for "no"
      When "ada" writes "a shirt" on Telegram
      And "ada" is asked about the tool "open_valve"
      And "ada" presses "Yes" of the first message
      Then the resource gets "yes" as a choice of "ada"

  Rule: Messages sent first may offer choices too

    Scenario Outline: A choice of a message sent first is pressed on <platform>
      Given a conversation of "ada" on <platform>
      When "Which one?" is sent to it first with the choices "Small" for "size-s" and "Large" for "size-l"
      And "ada" presses "Large"
      Then the resource gets "size-l" as a choice of "ada"

      Examples:
        | platform |
        | Slack    |
        | Teams    |
        | Discord  |
        | Telegram |
        | Mattermost |
        | WhatsApp |

    Scenario: A choice of a message sent first is typed on SMS
      Given a conversation of "ada" on SMS
      When "Which one?" is sent to it first with the choices "Small" for "size-s" and "Large" for "size-l"
      And "ada" writes "1"
      Then the resource gets "size-s" as a choice of "ada"

    Scenario: A forwarded number is no choice of another conversation
      Given a conversation of "ada" on SMS
      And a conversation of "bob" in the same place
      When "Which one?" is sent to "ada" first with the choices "Small" for "size-s" and "Large" for "size-l"
      And "bob" writes "1"
      Then the resource gets "1" as a message of "bob"
