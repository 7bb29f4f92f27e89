@s4.3 @s5 @s6
Feature: WhatsApp
  People talk to a resource by writing to a business number.

  Rule: Messages and replies to buttons are answered to the sender's number

    Scenario Outline: Answered: <notification>
      Given a bot that echoes
      When the platform posts <notification>
      Then it is acknowledged with nothing
      And "<answer>" is written to <place>

      Examples:
        | notification                           | answer                     | place               |
        | a text                                 | When does the engine stop? | the sender's number |
        | a press of a reply button              | Approve                    | the sender's number |
        | a text of a sender who shows no number | Hello without a number     | the sender's id     |

    Scenario Outline: Every message of one notification, here "<answer>"
      Given a bot that echoes
      When the platform posts three messages at once
      Then "<answer>" is written to the sender's number

      Examples:
        | answer |
        | one    |
        | two    |
        | three  |

  Rule: A group is a conversation of its own

    Scenario: A message in a group
      Given a bot that echoes
      When the platform posts a text in a group
      Then it is acknowledged with nothing
      And "Hello in the group" is written to the group

    Scenario: What is said in a group stays out of the private chat
      Given a bot that echoes
      When the platform posts a text in a group
      And the platform posts a text
      Then "When does the engine stop?" is written to the sender's number
      And "Hello in the group" is written to the group
      And these are two conversations

  Rule: A notification that comes again is not answered again

    Scenario: The same notification twice
      Given a bot that echoes
      When the platform repeats a text
      Then it is written once

  Rule: Without a signature by appSecret nothing is accepted

    Scenario: A forged notification
      Given a bot that echoes
      When somebody else posts a text
      Then the call is refused as "not known"
      And nobody is asked

  Rule: Statuses and what says nothing are acknowledged

    Scenario: A message of an unknown kind
      Given a bot that echoes
      When the platform posts a message of an unknown kind
      Then it is acknowledged with nothing
      And "I cannot read this kind of message. Please write it as text, or send it as a file." is written to the sender's number

    Scenario Outline: Ignored: <notification>
      Given a bot that echoes
      When the platform posts <notification>
      Then it is acknowledged with nothing
      And nobody is asked

      Examples:
        | notification                     |
        | that a message was delivered     |
        | that a message was not delivered |
        | a reaction                       |
        | a change of the account          |

  Rule: What the platform could not hand over is a dead letter, and the instance's health says why

    Scenario: The last message of the person is more than a day old
      Given a bot that echoes
      And the platform posts a text
      When the platform says that it could not be handed over
      Then the reply is a dead letter for "More than 24 hours have passed since the person last wrote: WhatsApp takes only a template now."

  Rule: A person who gets another number goes on with the conversation

    Scenario: The platform tells of another number
      Given a bot that echoes
      And something was said with the sender's number
      When the platform posts that the sender has a new number
      Then it is acknowledged with nothing
      And it was said with the new number

    Scenario: A person who hides the number
      Given a bot that echoes
      When the platform posts a text of a sender who shows both ids
      And the platform posts a text of a sender who shows no number
      Then "When does the engine stop?" is written to the sender's number
      And "Hello without a number" is written to the sender's id
      And this is one conversation

    Scenario: A person whose number becomes known
      Given a bot that echoes
      And something was said with the sender's id
      When the platform posts a text of a sender who shows both ids
      Then it was said with the sender's number

    Scenario: Calls that prove nothing join no conversations
      Given a bot that echoes
      And calls cannot be proved, and need not be
      When the platform posts a text of a sender who shows both ids
      And the platform posts a text of a sender who shows no number
      Then these are two conversations

    Scenario: Nobody else can take a conversation over
      Given a bot that echoes
      And calls cannot be proved, and need not be
      And something was said with the sender's number
      When the platform posts that the sender has a new number
      Then it was said with the sender's number

  Rule: A platform that asks to wait is not written to earlier

    Scenario: Too many messages
      Given a bot that echoes
      And the platform asks to wait 1 second once it is written to
      When the platform posts a text
      Then "When does the engine stop?" is written to the sender's number
      And it is written once
