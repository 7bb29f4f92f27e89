Feature: Bursts of messages
  People write a thought in several short messages. An instance can wait until its sender is silent, and hand them to the
  resource as one message.

  Rule: What one sender writes in quick succession is one message

    Scenario: Three short messages get one answer
      Given the bot joins what is written within 60 seconds
      When Ada writes "Hello"
      And Ada writes "one question"
      And Ada writes "when do you open?"
      And Ada is silent
      Then the resource is asked "Hello / one question / when do you open?"
      And each request is answered once

    Scenario: A bot that does not join messages answers each of them
      Given the bot does not join messages
      When Ada writes "Hello"
      And Ada writes "when do you open?"
      Then the resource is asked "Hello", then "when do you open?"
      And each request is answered once

    Scenario: A message that comes while a worker waits for more
      Given the bot joins what is written within 60 seconds
      And a worker is at work
      When Ada writes "Hello"
      And Ada writes "when do you open?"
      And Ada is silent
      Then the resource is asked "Hello / when do you open?"
      And each request is answered once

    Scenario: A message that is delivered twice is joined once
      Given the bot joins what is written within 60 seconds
      When Ada writes "Hello"
      And Ada writes "when do you open?"
      And the messenger delivers the last message again
      And Ada is silent
      Then the resource is asked "Hello / when do you open?"
      And each request is answered once

  Rule: Something else ends a burst at once

    Scenario: A pressed button is never joined
      Given the bot joins what is written within 60 seconds
      When Ada writes "Hello"
      And Ada writes "when do you open?"
      And Ada presses a button "tomorrow"
      Then the resource is asked "Hello / when do you open?", then "tomorrow"
      And each request is answered once

    Scenario: Somebody else writes in the same group
      Given the bot joins what is written within 60 seconds
      When Ada writes "Hello" in the group
      And Ada writes "when do you open?" in the group
      And Bob writes "Me too" in the group
      And everybody is silent
      Then the resource is asked "Hello / when do you open?", then "Me too"
      And each request is answered once

  Rule: No death of a worker loses a part of a burst

    Scenario: A worker dies over a burst
      Given the bot joins what is written within 60 seconds
      When Ada writes "Hello"
      And Ada writes "when do you open?"
      And a worker leased the conversation and died
      And Ada is silent
      Then the resource is asked "Hello / when do you open?"
      And each request is answered once
