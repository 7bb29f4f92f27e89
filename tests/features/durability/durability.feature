Feature: Nothing accepted is lost, nothing is answered twice
  A message that was acknowledged is answered, whatever dies in between.

  Rule: An accepted message is durable before it is acknowledged

    Scenario: Accepted while nobody works
      Given a service without a worker
      When 5 messages are accepted
      And a service with a worker starts on the same database
      Then each of the 5 messages is answered once

    Scenario: A redelivery is recognised after a restart
      Given a service without a worker
      When the message with the identity "m-1" is accepted
      And a service with a worker starts on the same database
      And the message with the identity "m-1" is accepted there once more
      Then each of the 1 messages is answered once

  Rule: What a dead worker left is taken up by another

    Scenario: A worker dies while it holds a conversation
      Given a service without a worker
      And 3 messages are accepted
      And a worker leased their conversation and died
      When a service with a worker starts on the same database
      Then each of the 3 messages is answered once, in order

    Scenario: A message over which workers die again and again is given up
      Given a service without a worker
      And 2 messages are accepted
      And three workers died over the first message
      When a service with a worker starts on the same database
      Then the first message gets an apology and the second its answer

  Rule: Messages of one conversation are answered in order

    Scenario: Two workers share many conversations
      Given a service without a worker
      And 40 messages of 4 conversations are accepted
      When two services with workers start on the same database
      Then each conversation is answered in order, each message once

  Rule: A tool that a person approved runs once

    Scenario: Two workers hold the same approval
      Given a service without a worker
      And a worker whose resource asks before it uses a tool
      And the sender approved the tool
      And the worker hangs while the tool runs
      When its lease runs out and a second worker takes the message up
      Then the sender is told that it is not clear whether the tool was used
      And when the first worker goes on the tool ran once and nothing more is said

  Rule: A reply that was recorded is sent, also after a restart

    Scenario: The receiver is away at first
      Given a service without a worker
      And the receiver refuses the first 2 tries
      When 1 message is accepted
      And a service with a worker starts on the same database
      Then each of the 1 messages is answered once
      And every try carried the same idempotency key
