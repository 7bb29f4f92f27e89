Feature: Hostile visitors
  Anybody on the internet can open a chat. Whatever somebody does there, others are served as before.

  Rule: Limits bind who floods the chat, and nobody else

    Scenario: Too many messages at once
      When a visitor sends 60 messages at once
      Then few of them are taken, and the others are told when to try again
      And another visitor is answered

    Scenario: Many streams
      When a visitor opens 20 streams
      Then most of them are refused, and are told when to try again
      And another visitor is answered

    Scenario: Tokens that are made up
      When one address calls 30 times with tokens that are made up
      Then all of them are refused
      And another visitor is answered

    Scenario: A reader who takes nothing
      Given a visitor reads nothing of the stream that is open
      When the visitor writes 5 messages
      Then another visitor is answered
      And what the first visitor did not take waits nowhere but in the database

  Rule: What cannot be read is refused with a sentence

    Scenario Outline: A message with <content>
      When a visitor writes a message with <content>
      Then it is refused as "<outcome>", with a sentence that names "<name>"
      And nothing is stored of the visitor

      Examples:
        | content                   | outcome   | name         |
        | a text of 1 MB            | invalid   | text         |
        | no text and no file       | invalid   | text         |
        | an id that is a path      | invalid   | id           |
        | half a character          | invalid   | text         |
        | a file of 6 MB            | too large | files        |
        | a file name of 10 KB      | invalid   | files[0]     |
        | a list in place of a text | invalid   | text         |
        | a body that is no JSON    | invalid   | body         |
        | a deeply nested body      | invalid   | body         |

  Rule: Nothing of a visitor reaches the conversation of another

    Scenario: Markup in a message
      When a visitor writes "<script>alert(1)</script> <img src=x onerror=alert(1)>"
      Then the panel shows these letters, as text alone

    Scenario: The id of another visitor's message
      When two visitors write different messages under the same id
      Then each of them is answered in their own conversation
