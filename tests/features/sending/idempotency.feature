Feature: A message is sent once
  A program that got no answer asks again. With the same idempotency key it gets the same answer, and nothing is sent twice.

  Rule: The same key gives the same answer

    Scenario: Asked twice
      When ann sends "Your order is ready" to the channel with the key "order-4711"
      And ann sends "Your order is ready" to the channel with the key "order-4711"
      Then both are accepted as the same message
      And "Your order is ready" stands in the channel once

    Scenario: Asked ten times at once
      When ten programs send "Your order is ready" to the channel with the key "order-4711" at once
      Then all are accepted as the same message
      And "Your order is ready" stands in the channel once

    Scenario: Without a key each is a message of its own
      When ann sends "Tick" to the channel
      And ann sends "Tick" to the channel
      Then they are different messages
      And "Tick" stands in the channel twice

    Scenario: Other keys
      When ann sends "Tick" to the channel with the key "1"
      And ann sends "Tick" to the channel with the key "2"
      Then they are different messages
      And "Tick" stands in the channel twice

    Scenario: The key of another bot
      Given another bot of ann's
      When ann sends "Tick" to the channel with the key "1"
      And ann sends "Tick" to the channel with the key "1" through the other bot
      Then they are different messages

  Rule: A key belongs to one message

    Scenario Outline: Another <what>
      When ann sends "Your order is ready" to the channel with the key "order-4711"
      And ann sends another <what> with the key "order-4711"
      Then the request is "conflict"
      And "Your order is ready" stands in the channel once

      Examples:
        | what   |
        | text   |
        | place  |
        | file   |
        | choice |

  Rule: A key is remembered for 24 hours

    Scenario: The day after
      When ann sends "Good morning" to the channel with the key "morning"
      And 24 hours pass
      And ann sends "Good morning" to the channel with the key "morning"
      Then they are different messages
      And "Good morning" stands in the channel twice

    Scenario: After 23 hours
      When ann sends "Good morning" to the channel with the key "morning"
      And 23 hours pass
      And ann sends "Good morning" to the channel with the key "morning"
      Then both are accepted as the same message

  Rule: A key is 1 to 200 printable characters without blanks

    Scenario Outline: A key <of what>
      When ann sends "Good morning" to the channel with a key <of what>
      Then the request is "invalid"
      And the error names Idempotency-Key

      Examples:
        | of what            |
        | of 201 characters  |
        | of nothing         |
        | with a blank       |
