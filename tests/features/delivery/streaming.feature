@s3.1
Feature: Answers that are shown while they are being made
  Where a platform lets messages be edited, an answer grows in one message.

  Rule: An answer grows in one message, in its order

    Scenario Outline: A resource on <platform> gives its answer in pieces
      Given a bot on <platform> whose resource gives its answer in pieces
      When "ada" writes "hello"
      And the resource has said "One"
      Then people see "One …"
      When the resource has said "One two"
      Then people see "One two …"
      When the resource ends with "One two three."
      Then people see "One two three."
      And the message never became shorter

      Examples:
        | platform   |
        | Slack      |
        | Telegram   |
        | Discord    |
        | Teams      |
        | Mattermost |

    Scenario Outline: A long answer on <platform>
      Given a bot on <platform> whose resource gives its answer in pieces
      When "ada" writes "hello"
      And the resource has said "One"
      Then people see "One …"
      When the resource ends with an answer of several messages
      Then its beginning has taken the place of "One …", and the rest follows

      Examples:
        | platform   |
        | Slack      |
        | Telegram   |
        | Discord    |
        | Teams      |
        | Mattermost |

  Rule: The limits of the platform hold for edits as for messages

    Scenario Outline: <platform> asks for a pause at an edit
      Given a bot on <platform> whose resource gives its answer in pieces
      When "ada" writes "hello"
      And the resource has said "One"
      Then people see "One …"
      When the platform asks for a pause at the next edit
      And the resource has said "One two"
      And the platform has asked for the pause
      And the resource ends with "One two three."
      Then people see "One two three."
      And nothing was sent during the pause

      Examples:
        | platform   |
        | Slack      |
        | Telegram   |
        | Discord    |
        | Teams      |
        | Mattermost |

  Rule: Whatever becomes of the message, the answer arrives once

    Scenario Outline: A person deletes the unfinished answer on <platform>
      Given a bot on <platform> whose resource gives its answer in pieces
      When "ada" writes "hello"
      And the resource has said "One"
      Then people see "One …"
      When somebody deletes the message
      And the resource ends with "One two three."
      Then people see "One two three."

      Examples:
        | platform   |
        | Slack      |
        | Telegram   |
        | Discord    |
        | Teams      |
        | Mattermost |

    Scenario Outline: The answer on <platform> has no text after all
      Given a bot on <platform> whose resource gives its answer in pieces
      When "ada" writes "hello"
      And the resource has said "One"
      Then people see "One …"
      When the resource ends without a text
      Then people see nothing

      Examples:
        | platform   |
        | Slack      |
        | Telegram   |
        | Discord    |
        | Teams      |
        | Mattermost |

    Scenario Outline: The resource on <platform> asks before it uses a tool
      Given a bot on <platform> whose resource gives its answer in pieces
      When "ada" writes "hello"
      And the resource has said "One"
      Then people see "One …"
      When the resource asks to use the tool "open_valve"
      Then the question about "open_valve" has taken the place of "One …"

      Examples:
        | platform   |
        | Slack      |
        | Telegram   |
        | Discord    |
        | Teams      |
        | Mattermost |
