Feature: Long answers are split into messages
  A platform takes messages up to a length. A longer answer goes out as several messages, cut where
  a reader would pause, and nothing of it is lost.

  Rule: No message is longer than the platform takes

    @s8
    Scenario Outline: An answer over the limit of <channel>
      Given a platform that takes messages of up to <limit> characters
      And an answer of 10000 characters in short paragraphs
      When the answer is split
      Then each message has at most <limit> characters
      And the messages together hold every word of the answer in order

      Examples:
        | channel       | limit |
        | gaming-chat   | 2000  |
        | bot-messenger | 4096  |
        | sms-provider  | 1500  |

    @s8
    Scenario: An answer that fits stays in one piece
      Given a platform that takes messages of up to 2000 characters
      And an answer of 2000 characters without a space
      When the answer is split
      Then there is 1 message
      And the messages joined without anything between are the answer

    Scenario: A platform that counts an emoji as two
      Given a platform that takes messages of up to 4096 UTF-16 units
      And an answer of 3000 emojis
      When the answer is split
      Then there are 2 messages
      And each message has at most 4096 UTF-16 units
      And the messages joined without anything between are the answer

    Scenario: A platform without a limit
      Given a platform that takes messages of any length
      And an answer of 10000 characters in short paragraphs
      When the answer is split
      Then there is 1 message

  Rule: A cut is made where a reader would pause

    Background:
      Given a platform that takes messages of up to 60 characters

    Scenario: The end of a paragraph is preferred
      Given the answer
        """
        The first paragraph. It has two sentences.

        The second one
        has two lines.
        """
      When the answer is split
      Then message 1 is "The first paragraph. It has two sentences."
      And message 2 is "The second one\nhas two lines."

    Scenario: Then the end of a line
      Given the answer
        """
        A line that has a sentence. And more
        and then a line that is quite long too
        """
      When the answer is split
      Then message 1 is "A line that has a sentence. And more"
      And message 2 is "and then a line that is quite long too"

    Scenario: Then the end of a sentence
      Given the answer "This is one sentence. This is the second sentence, and it is longer."
      When the answer is split
      Then message 1 is "This is one sentence."
      And message 2 is "This is the second sentence, and it is longer."

    Scenario: Then the end of a word
      Given the answer "a sentence without any end that goes on and on until it is over the limit"
      When the answer is split
      Then message 1 is "a sentence without any end that goes on and on until it is"
      And message 2 is "over the limit"

    Scenario: A word longer than a message is cut inside
      Given an answer of 150 characters without a space
      When the answer is split
      Then there are 3 messages
      And the messages joined without anything between are the answer

  Rule: What a reader takes for one character is never cut

    Scenario Outline: <what> stays whole
      Given a platform that takes messages of up to 50 characters
      And an answer of 49 letters, then <what>, then 10 letters
      When the answer is split
      Then <what> stands whole in one message
      And the messages joined without anything between are the answer

      Examples:
        | what                  |
        | a family emoji        |
        | a flag                |
        | a thumb of brown skin |
        | a keycap              |
        | an accented letter    |
        | a Korean syllable     |

  Rule: A code block that is cut is closed and opened again

    Scenario: A long code block
      Given a platform that takes messages of up to 300 characters
      And an answer with a Python code block of 40 lines between two sentences
      When the answer is split
      Then every message has as many opening as closing fences
      And each message that holds code opens it as Python
      And the lines of code are all there, with their indentation

    Scenario: A code block within a longer fence
      Given a platform that takes messages of up to 300 characters
      And an answer with a code block fenced by four backticks that shows a fence of three
      When the answer is split
      Then each message that holds code opens it with four backticks
