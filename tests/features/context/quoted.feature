Feature: What is replied to
  A person who replies to a message means that message. The resource gets it together with the reply, where the platform
  tells it or lets it be read.

  Rule: The resource gets the message that was replied to

    Scenario Outline: The platform tells what was replied to
      Given a bot on <platform>
      When Ada answers "Is it?" to a message of Bob that says "The engine is hot."
      Then the resource is asked "Is it?"
      And it is told that Bob wrote "The engine is hot."

      Examples:
        | platform |
        | Telegram |
        | Slack    |
        | Discord  |
        | Teams    |

    Scenario: Only the words that were marked are quoted
      Given a bot on Telegram
      When Ada answers "Sure?" to the words "is hot" of a message of Bob that says "The engine is hot."
      Then the resource is asked "Sure?"
      And it is told that Bob wrote "is hot"

    Scenario: A picture that was replied to goes along
      Given a bot on Telegram
      When Ada answers "What is this?" to a picture of Bob
      Then the resource is asked "What is this?"
      And it gets the picture of Bob beside the message

    Scenario: A message of the bot is replied to
      Given a bot on Telegram
      When Ada answers "Why?" to a message of the bot that says "It is hot."
      Then the resource is asked "Why?"
      And it is told that the resource wrote "It is hot."

    Scenario: A message that replies to nothing
      Given a bot on Telegram
      When Ada writes "Hello"
      Then the resource is asked "Hello"
      And it is told of no earlier message

  Rule: Where the platform tells no more than which message it was, it is found among the stored ones

    Scenario: An answer of the bot is replied to
      Given a bot on WhatsApp
      And Ada asked "Is it hot?", and it answered
      When Ada answers "Why?" to that answer
      Then the resource is asked "Why?"
      And it is told that the resource wrote "heard Is it hot?"

    Scenario: An earlier message of the person is replied to
      Given a bot on WhatsApp
      And Ada asked "Is it hot?", and it answered
      When Ada answers "Well?" to her own message
      Then the resource is asked "Well?"
      And it is told that Ada wrote "Is it hot?"

    Scenario: A message that nobody stored is replied to
      Given a bot on WhatsApp
      When Ada answers "Why?" to a message of Bob that says "The engine is hot."
      Then the resource is asked "Why?"
      And it is told of no earlier message

  Rule: A failure costs the quoted message alone

    Scenario: The picture cannot be fetched
      Given a bot on Telegram
      When Ada answers "What is this?" to a picture of Bob that the platform has lost
      Then the resource is asked "What is this?"
      And it is told of a message of Bob without files
