Feature: Replies reach their platform
  A reply is kept until its platform has taken it, or until it is clear that it never will. People write to a Telegram
  bot whose resource repeats what it is told.

  Rule: A reply that was not taken is tried again, each time later

    Scenario: The platform fails for a moment
      Given the platform answers that it is broken
      When kim writes "hello"
      Then kim's reply waits for its second try, due in 1 second
      When the platform works again
      And 2 seconds pass
      Then kim gets "hello" once

    Scenario: The platform fails for long
      Given the platform answers that it is broken
      When kim writes "hello"
      Then kim's reply is tried again after these seconds: 1, 2, 5, 15, 60, 300, 900, 1800, 3600, 7200, 14400, 28800
      And kim's reply is a dead letter

    Scenario: A reply that waits holds back the next one of its conversation
      Given the platform answers that it is broken
      When kim writes "first"
      Then kim's reply waits for its second try, due in 1 second
      When kim writes "second"
      And the platform works again
      And 2 seconds pass
      Then kim gets "first" and then "second"

  Rule: What a platform asks to wait for waits as long as it says, and nothing else does

    Scenario: A conversation is to wait
      Given the platform asks to wait for 30 seconds in kim's chat
      When kim writes "hello"
      Then kim's reply waits for its second try, due in 30 seconds
      When lee writes "hi"
      Then lee gets "hi" once
      When the platform works again
      And 30 seconds pass
      Then kim gets "hello" once

    Scenario: The next message of a conversation that is to wait is not even tried
      Given the platform asks to wait for 30 seconds in kim's chat
      When kim writes "hello"
      And the reply is refused
      And kim writes "hello?" in a topic of the same chat
      Then the platform is not called again before 30 seconds have passed

    Scenario: When a second conversation is to wait, the whole bot is
      Given the platform asks to wait for 30 seconds in kim's chat and in lee's
      When kim writes "hello"
      And the reply is refused
      And lee writes "hi"
      And the reply is refused
      And max writes "hey"
      Then max's reply waits without a try
      When the platform works again
      And 30 seconds pass
      Then each of kim, lee and max gets a reply once

    Scenario: Another bot goes on
      Given the platform asks to wait for 30 seconds in kim's chat and in lee's
      And another bot
      When kim writes "hello"
      And the reply is refused
      And lee writes "hi"
      And the reply is refused
      And max writes "hey" to the other bot
      Then max gets "hey" once

  Rule: The published limits of a platform are kept

    Scenario: One message a second in a chat
      Given the published limits are kept
      When kim gets an answer of 4 messages
      Then a second lies between each of them

    Scenario: Other chats do not wait for it
      Given the published limits are kept
      When kim gets an answer of 4 messages
      And lee writes "hi"
      Then a second lies between each of them
      And lee gets "hi" once

  Rule: What a platform refuses for good is a dead letter at once

    Scenario: The person has blocked the bot
      Given the platform says that kim has blocked the bot
      When kim writes "hello"
      Then kim's reply is a dead letter after 1 try, with the platform's words

    Scenario: What one person does is no fault of the bot
      Given the platform says that kim has blocked the bot
      When kim writes "hello"
      Then kim's reply is a dead letter after 1 try, with the platform's words
      And the bot is healthy

    Scenario: What concerns everybody is a fault of the bot
      Given the platform says that the bot is not known
      When kim writes "hello"
      And the reply is refused
      Then the bot is not healthy

    Scenario: The next reply is sent all the same
      Given the platform says that kim has blocked the bot
      When kim writes "first"
      And the reply is refused
      And the platform works again
      And kim writes "second"
      Then kim gets "second" once

  Rule: An apology that arrives is no success of the instance

    Scenario: The resource fails
      Given a resource that fails
      When kim writes "hello"
      Then kim gets the apology
      And the bot's health tells of the resource alone
      When the resource works again
      And kim writes "hello again"
      Then the bot's health tells of a success

  Rule: Dead letters can be listed, sent again and dropped by the instance's owner

    Scenario: Listed page by page
      Given 7 dead letters
      Then ann sees the pages of 3 dead letters: 3, 3, 1
      And the health of the bot counts 7 dead letters

    Scenario: Sent again
      Given a dead letter
      When the platform works again
      And ann replays it
      Then the request is "accepted"
      And kim gets "hello" once
      And there are no dead letters

    Scenario: Sent again once, however often it is asked for
      Given a dead letter
      When the platform works again
      And ann replays it
      And kim gets "hello" once
      And ann replays it
      Then the request is "conflict"
      And kim gets "hello" once

    @grpc
    Scenario: Replayed while the platform still refuses it
      Given a dead letter
      When ann replays it
      Then kim's reply is a dead letter after 1 try, with the platform's words

    Scenario: Dropped for good
      Given a dead letter
      When ann drops it
      Then the request is "done"
      And there are no dead letters
      When ann replays it
      Then the request is "not found"
      When ann drops it
      Then the request is "not found"

    Scenario Outline: <who> may not
      Given a dead letter
      When <who> lists, replays and drops it
      Then each of the requests is "forbidden"

      Examples:
        | who |
        | bob |

    @grpc
    Scenario: An administrator may
      Given a dead letter
      When admin drops it
      Then the request is "done"

    Scenario: A dead letter of another instance is not found
      Given a dead letter
      And another bot
      When ann replays it at the other bot
      Then the request is "not found"
      When ann drops it at the other bot
      Then the request is "not found"

  Rule: A platform that does not answer is left in peace

    Scenario: After five failures in a row of several conversations replies wait
      Given the platform answers that it is broken
      When 5 people write
      Then the bot's health says that replies wait because the platform does not answer
      When max writes "hey"
      Then max's reply waits without a try
      And the metrics count 1 open breaker

    Scenario: A single conversation that fails holds up nobody
      Given the platform fails in kim's chat alone
      When kim writes "hello"
      And kim's reply is tried 6 times in vain
      And lee writes "hi"
      Then lee gets "hi" once
      And the bot's health says that replies go out

    Scenario: When the platform is back, everything is sent
      Given the platform answers that it is broken
      When 5 people write
      And the bot's health says that replies wait because the platform does not answer
      And max writes "hey"
      And the platform works again
      And 10 seconds pass
      Then each of the 6 people gets a reply once
      And the bot's health says that replies go out

    Scenario: What has been due for more than a week is given up, and its owner may still send it
      Given the platform answers that it is broken
      When 5 people write
      And the bot's health says that replies wait because the platform does not answer
      And max writes "hey"
      And max's reply has been due for 8 days
      And the platform works again
      And 10 seconds pass
      Then max's reply is a dead letter, as it waited for too long
      And the bot's health says that replies go out
      When ann replays it
      Then the request is "accepted"
      And max gets "hey" once

    Scenario: While it is not, one reply is tried at a time and then all wait longer
      Given the platform answers that it is broken
      When 5 people write
      And the bot's health says that replies wait because the platform does not answer
      And 10 seconds pass
      Then one reply is tried, and the others wait for 20 seconds more

    @grpc
    Scenario: Saving the instance tries at once
      Given the platform answers that it is broken
      When 5 people write
      And the bot's health says that replies wait because the platform does not answer
      And the platform works again
      And ann saves the bot
      And max writes "hey"
      Then max gets "hey" once
