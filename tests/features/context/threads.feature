Feature: Threads and channels
  In a busy channel the bot speaks where it is asked. In a thread in which it has answered, people go on talking to it
  without its name.

  Rule: Where the bot has answered in a thread, further messages need no mention

    Scenario: A question without a mention in a thread with the bot
      Given a bot in a channel
      And Ada mentioned it in a thread with "Is it hot?", and it answered
      When Bob writes "And the other one?" in that thread
      Then the resource is asked "And the other one?" in the same conversation

    Scenario: A thread without the bot
      Given a bot in a channel
      When Bob writes "Who is there?" in a thread of which the bot knows nothing
      Then nothing of it is stored

    Scenario: A thread in which the bot is about to answer
      Given a bot in a channel, whose resource takes its time
      And Ada mentioned it in a thread with "Is it hot?"
      When Bob writes "And the other one?" in that thread
      Then the resource is asked "And the other one?" in the same conversation

    Scenario: A thread below an answer of the bot
      Given a bot in a channel
      And Ada mentioned it in the channel with "Is it hot?", and it answered
      When Bob writes "Why?" in a thread below that answer
      Then the resource is asked "Why?" and told that it answered "heard Is it hot?"

    Scenario: The mention arrives a second time as a message
      Given a bot in a channel
      And Ada mentioned it in a thread with "Is it hot?", and it answered
      When the mention arrives once more as a message of the channel
      Then the resource was asked once

    Scenario: The instance does not follow threads
      Given a bot in a channel that does not follow threads
      And Ada mentioned it in a thread with "Is it hot?", and it answered
      When Bob writes "And the other one?" in that thread
      Then nothing more is stored

  Rule: Who calls the bot into a thread need not repeat what was said there

    Scenario: The bot is called into a thread
      Given a bot in a channel
      And a thread in which Bob wrote "The engine is hot." and Ada "How hot?"
      When Ada mentions the bot in that thread with "What do you think?"
      Then the resource is told of the thread
        | who | text               |
        | Bob | The engine is hot. |
        | Ada | How hot?           |
      And it is told that the thread began with "The engine is hot." of Bob

    Scenario: The bot knows the thread
      Given a bot in a channel
      And a thread in which Bob wrote "The engine is hot." and Ada "How hot?"
      And Ada mentioned the bot in that thread with "What do you think?", and it answered
      When Ada mentions the bot in that thread with "Are you sure?"
      Then the resource is asked "Are you sure?" without what was said before

    Scenario: The platform does not show the thread
      Given a bot in a channel
      When Ada mentions the bot in a thread that the platform does not show with "What do you think?"
      Then the resource is asked "What do you think?" without what was said before

  Rule: Answers may go into threads

    Scenario: A mention in the channel is answered in a thread
      Given a bot in a channel that answers in threads
      When Ada mentions it in the channel with "Is it hot?"
      Then the answer stands in a thread below the mention
      And a message of Bob in that thread is of the same conversation

  Rule: The bot answers in the channels that were chosen

    Scenario: A mention in another channel
      Given a bot that may answer in another channel alone
      When Ada mentions it in the channel with "Is it hot?"
      Then the platform is told that all is well
      And nothing of it is stored
      And it is counted as ignored

    Scenario: A bot that answers every message
      Given a bot in a channel that needs no mention
      When Bob writes "Who is there?" in the channel
      Then the resource is asked "Who is there?"
