Feature: Subscriptions to events
  Another system is told what happens: each event is posted to its address, signed, and posted again until it is taken.
  Ann has a bot that answers with what it is told.

  Rule: Events are pushed to the addresses that subscribe to them

    Scenario: A message and its answer
      Given ann subscribes to all events
      When somebody writes "hello" to ann's bot
      Then the address is told "message.received", then "message.answered", then "delivery.sent"
      And each push is signed with ann's secret

    Scenario: Some kinds alone
      Given ann subscribes to "message.answered"
      When somebody writes "hello" to ann's bot
      Then the address is told "message.answered"

    Scenario: One instance alone
      Given ann has a second bot
      And ann subscribes to the events of her second bot
      When somebody writes "hello" to ann's bot
      And somebody writes "hello" to ann's second bot
      Then the address is told "message.received", then "message.answered", then "delivery.sent"
      And all of that is about ann's second bot

    @grpc
    Scenario: Nothing of other people
      Given bob subscribes to all events
      When somebody writes "hello" to ann's bot
      And bob tries his subscription
      Then the address is told "test"

    Scenario: Who drops what came twice still sees each trial
      Given bob subscribes to all events
      When bob tries his subscription
      And bob tries his subscription
      Then the address is told "test", then "test"
      And no two pushes have the same id

    Scenario: What happened before is not pushed
      Given somebody wrote "early" to ann's bot and was answered
      And ann subscribes to "message.received"
      When somebody writes "late" to ann's bot
      Then the address is told of "late" alone

    Scenario: A push is no event
      Given ann subscribes to all events
      When somebody writes "hello" to ann's bot
      Then the address is told "message.received", then "message.answered", then "delivery.sent"
      And no events are on record but these 3

  Rule: A push that is not taken is sent again

    Scenario: The address fails for a while
      Given ann subscribes to "message.received", and the address fails 2 times
      When somebody writes "hello" to ann's bot
      Then the address is told "message.received"
      And it got the same push 3 times
      And the log says that it was sent at the 3rd try

    Scenario: The address redirects
      Given ann subscribes to "message.received", and the address redirects elsewhere
      When somebody writes "hello" to ann's bot
      Then the log holds a push that waits for its next try

    @grpc
    Scenario: The address wants no more
      Given ann subscribes to "message.received", and the address is gone
      When somebody writes "hello" to ann's bot
      Then the subscription is off, as "the address answered 410 Gone"
      And the log holds a push that was given up
      When ann switches the subscription on again
      And ann sends the push again
      Then the address is told "message.received"

    Scenario: It is switched off by hand
      Given ann subscribes to "message.received"
      When ann switches the subscription off
      Then the subscription is off, as "switched off by hand"
      When somebody writes "hello" to ann's bot
      Then nothing is pushed

    Scenario: Five days without success
      Given ann subscribes to "message.received", and the address has failed for 5 days
      When the service looks after failing subscriptions
      Then the subscription is off, as "nothing could be pushed for five days"

  Rule: A subscription that is not taken costs others nothing

    Scenario: An address that is away for long
      Given ann subscribes to "message.received", and the address takes nothing
      When 12 people write 5 messages each to ann's bot
      Then at most 32 pushes to ann's address wait
      When the address takes everything again
      Then it is told of all 60 messages once, and of those of each person in order

    Scenario: One conversation that is not taken
      Given ann subscribes to "message.received", and the address takes nothing of "Carl"
      When "Carl" writes 20 messages to ann's bot
      And "Dora" writes 20 messages to ann's bot
      Then the address is told of all 20 messages of "Dora"
      And at most 8 pushes to ann's address wait
      When the address takes everything again
      Then it is told of all 40 messages once, and of those of each person in order

    @grpc
    Scenario: It has taken nothing for an hour
      Given ann subscribes to "message.received", and the address has failed for 2 hours
      Then the subscription is not healthy, as "nothing could be pushed for an hour"
      And ann's list says so
      When the address takes everything again
      Then the subscription is healthy again

    Scenario: What waited before an upgrade
      Given ann subscribes to "message.received", and the address takes nothing
      And the version before has put 50 messages of "Carl" on their way
      When "Carl" writes 5 messages to ann's bot
      And the address takes everything again
      Then it is told of all 55 messages once, and of those of each person in order

  Rule: A subscription belongs to who made it

    Scenario: Others may not see or change it
      Given ann subscribes to all events
      Then bob may not see, change, try or delete it, or see its log
      And an admin may see it
      And it is in ann's list, and not in bob's

    @grpc
    Scenario: A deleted subscription is gone
      Given ann subscribes to all events
      When ann deletes it
      And somebody writes "hello" to ann's bot
      Then nothing is pushed
      And it is not found

    Scenario: It is no instance
      Given ann subscribes to all events
      Then it is not in ann's list of instances, and cannot be reached as one

  Rule: What its user may see counts when an event is pushed, and not when it happened

    Scenario Outline: A push that waits
      Given <who> subscribes to "message.received", and the address takes nothing
      And "hello" came to ann's bot, and was refused by the address
      When <change>
      And the address takes what comes
      Then the push is given up, as "<reason>"
      And the address is told nothing

      Examples:
        | who | change                                 | reason                                   |
        | ann | an admin suspends ann                  | the subscription is switched off         |
        | eve | an admin makes eve, an admin, a member | its user may not see this event any more |

    Scenario: A subscription ends with its user
      Given ann subscribes to "message.received", and the address takes nothing
      And "hello" came to ann's bot, and was refused by the address
      When an admin deletes ann in favour of bob
      Then bob has no subscription
      And no push is on its way

  Rule: What cannot work is refused, and says why

    Scenario Outline: A wrong subscription
      When ann subscribes with <what>
      Then that is refused as "<outcome>", naming "<field>"

      Examples:
        | what                          | outcome   | field       |
        | no address                    | invalid   | url         |
        | an address that is none       | invalid   | url         |
        | a host that has no name       | invalid   | url         |
        | a host with a far too long name | invalid | url         |
        | a password in the address     | invalid   | url         |
        | the address of this service   | invalid   | url         |
        | this service, shortly written | invalid   | url         |
        | this service, mapped to IPv6  | invalid   | url         |
        | the address of cloud metadata | invalid   | url         |
        | an unknown kind               | invalid   | kinds       |
        | a short secret                | invalid   | secret      |
        | bob's bot                     | forbidden | another     |
        | a bot that is not there       | not found | instance    |

    Scenario: Far too many subscriptions
      When ann subscribes 51 times
      Then 50 of them are accepted, and the last is refused as "conflict"

    Scenario: A push never makes more events
      When a push reaches the webhook of ann's bot
      Then that is refused as "invalid", naming "subscription"
