Feature: Events
  Whoever builds on the service can follow what happens as it happens, and misses nothing.

  Rule: A message is followed from its coming to the delivery of its answer

    Scenario: A message that is answered
      Given ann has an instance and follows its events
      When kim writes "How late is it?"
      Then ann is told, in this order: message.received, message.answered, delivery.sent
      And the message is told with the text "How late is it?" from kim
      And the answer is told with the text "You said: How late is it?", as the reply to that message

    Scenario: A message that the resource cannot answer
      Given ann has an instance and follows its events
      And the resource is broken
      When kim writes "How late is it?"
      Then ann is told, in this order: message.received, instance.health, message.failed, delivery.sent
      And the failure is told with its reason

    Scenario: An answer that its receiver refuses
      Given ann has an instance and follows its events
      And the receiver of answers refuses everything
      When kim writes "How late is it?"
      Then ann is told, in this order: message.received, message.answered, instance.health, delivery.dead
      And the delivery is told with its reason

    Scenario: Many messages of one conversation
      Given ann has an instance and follows its events
      When kim writes 12 messages at once
      Then each of them is told as received, answered and sent, in the order in which they came

  Rule: Everybody gets their own events

    Scenario: Another user's messages
      Given ann has an instance and follows its events
      And bob follows all events that are his
      And an admin follows all events
      When kim writes "How late is it?"
      Then ann and the admin are told of it
      And bob is told nothing

    Scenario Outline: Events that nobody may ask for
      Given ann has an instance and follows its events
      When bob wants to follow <what>
      Then that is refused as "<refusal>", by the service and by its core

      Examples:
        | what                        | refusal   |
        | the events of ann's instance | forbidden |
        | the events of no instance    | not found |
        | events of an unknown kind    | invalid   |

    Scenario: Only some kinds of events
      Given ann has an instance
      And ann follows only the events message.answered and delivery.dead
      When kim writes "How late is it?"
      And kim writes "And now?"
      Then ann is told, in this order: message.answered, message.answered

  Rule: Who comes back goes on where it left

    Scenario: Messages that came meanwhile
      Given ann has an instance and follows its events
      And kim wrote "one", of which ann was told
      When ann leaves
      And kim writes "two", which is answered
      And ann comes back
      Then she is told of "two" and not of "one"

    Scenario: Events that are gone
      Given ann has an instance and follows its events
      And kim wrote "one", of which ann was told
      When ann leaves
      And kim writes "two", which is answered
      And the events of that time are deleted
      And kim writes "three", which is answered
      And ann comes back
      Then she is told that events are missing, and of "three"

  Rule: While nobody listens nothing is recorded

    Scenario: A service that nobody follows
      Given ann has an instance
      When kim writes "How late is it?", which is answered
      Then no event is recorded
