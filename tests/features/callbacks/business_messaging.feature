@s4.3 @s5 @s6
Feature: WhatsApp
  People talk to a resource by writing to a business number.

  Rule: Messages and replies to buttons are answered to the sender's number

    Scenario Outline: <what>
      Given a bot that echoes
      When the platform posts <notification>
      Then it is acknowledged with nothing
      And "<answer>" is written to <place>

      Examples:
        | what                            | notification | answer                     | place        |
        | a text                          | text         | When does the engine stop? | 441632960001 |
        | a reply button, by its title    | button_reply | Approve                    | 441632960001 |
        | a sender who shows no number    | text_scoped  | Hello without a number     | GB.A1b2C3    |

    Scenario Outline: Every message of one notification, here "<answer>"
      Given a bot that echoes
      When the platform posts several
      Then "<answer>" is written to 441632960001

      Examples:
        | answer |
        | one    |
        | two    |
        | three  |

  Rule: A notification that comes again is not answered again

    Scenario: The same notification twice
      Given a bot that echoes
      When the platform repeats text
      Then it is written once

  Rule: Without a signature by appSecret nothing is accepted

    Scenario: A forged notification
      Given a bot that echoes
      When somebody else posts text
      Then the call is refused as "not known"
      And nobody is asked

  Rule: Statuses and what says nothing are acknowledged

    Scenario Outline: <notification>
      Given a bot that echoes
      When the platform posts <notification>
      Then it is acknowledged with nothing
      And nobody is asked

      Examples:
        | notification     |
        | status_delivered |
        | status_failed    |
        | reaction         |
        | unsupported      |
        | account_update   |

  Rule: What the platform could not hand over is a dead letter, and the instance's health says why

    Scenario: The last message of the person is more than a day old
      Given a bot that echoes
      And the platform posts text
      When the platform says that it could not be handed over
      Then the reply is a dead letter for "131047 More than 24 hours have passed"

  Rule: A person who gets another number goes on with the conversation

    Scenario: The platform tells of another number
      Given a bot that echoes
      And something was said with 441632960001
      When the platform posts system
      Then it is acknowledged with nothing
      And it was said with 441632960009

    Scenario: Nobody else can take a conversation over
      Given a bot that echoes
      And calls cannot be proved, and need not be
      And something was said with 441632960001
      When the platform posts system
      Then it was said with 441632960001

  Rule: A platform that asks to wait is not written to earlier

    Scenario: Too many messages
      Given a bot that echoes
      And the platform asks to wait 1 second once it is written to
      When the platform posts text
      Then "When does the engine stop?" is written to 441632960001
      And it is written once
