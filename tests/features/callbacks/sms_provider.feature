@s4.3 @s5 @s6 @s8
Feature: Twilio SMS
  People talk to a resource by text message.

  Rule: What a person writes is answered by text message

    Scenario: A message
      Given a bot that echoes
      When the platform posts a message
      Then it is acknowledged with a message to the sender
      And "Is the shop open? ☀ + & = %" is written to the sender's number

    Scenario: A message without a signature
      Given a bot that echoes
      When the platform posts a message without a signature
      Then it is acknowledged with a message to the sender
      And "Is the shop open? ☀ + & = %" is written to the sender's number
      And its health says that calls are not proved

  Rule: A message to a group is refused, with one notice to its sender

    Scenario: Messages of a group
      Given a bot that echoes
      When the platform posts a message of a group
      And the platform posts a further message of the group
      And the platform posts a message
      Then "I cannot answer in group messages. Please write to me alone." is written to the sender's number
      And "Is the shop open? ☀ + & = %" is written to the sender's number
      And nothing else is written

  Rule: A message that comes again is not answered again

    Scenario: The same message twice
      Given a bot that echoes
      When the platform repeats a message
      Then it is written once

  Rule: The account must be ours, and a signature must be right

    Scenario Outline: Refused: <update>
      Given a bot that echoes
      When the platform posts <update>
      Then the call is refused as "not known"
      And nobody is asked

      Examples:
        | update                       |
        | a message of another account |
        | a message without an account |

    Scenario: A forged message
      Given a bot that echoes
      When somebody else posts a message
      Then the call is refused as "not known"
      And nobody is asked

  Rule: What must not be answered is acknowledged without a message

    Scenario Outline: Ignored: <update>
      Given a bot that echoes
      When the platform posts <update>
      Then it is acknowledged without a message
      And nobody is asked

      Examples:
        | update                           |
        | that the sender opted out        |
        | that a message was delivered     |
        | that a message was not delivered |

  Rule: Keywords of opting out, opting in and help belong to the carrier and are not handed on

    Scenario Outline: Ignored: <keyword>
      Given a bot that echoes
      When the platform posts <keyword>
      Then it is acknowledged without a message
      And nobody is asked

      Examples:
        | keyword                                |
        | the keyword STOP                       |
        | the keyword Unsubscribe between blanks |
        | the keyword start                      |
        | the keyword HELP                       |

    Scenario: A keyword within a sentence is a message
      Given a bot that echoes
      When the platform posts a keyword in a sentence
      Then "Stop the pump" is written to the sender's number

    Scenario: A keyword that also rejects an approval, without one
      Given a bot that asks before it uses a tool
      When the platform posts the keyword cancel
      Then it is acknowledged without a message
      And it is worked off without an answer

    Scenario: A keyword that also rejects an approval
      Given a bot that asks before it uses a tool
      When the platform posts a message
      And the question has arrived, the platform posts the keyword cancel
      Then it is acknowledged without a message
      And the resource is told that the tool was rejected

  Rule: Answers are split at 1500 characters

    Scenario: A long answer
      Given a bot that echoes
      When the platform posts a long message
      Then the answer comes in messages of at most 1500 characters that lose nothing

  Rule: A platform that asks to wait is not written to earlier

    Scenario: Too many messages
      Given a bot that echoes
      And the platform asks to wait 1 second once it is written to
      When the platform posts a message
      Then "Is the shop open? ☀ + & = %" is written to the sender's number
      And it is written once
