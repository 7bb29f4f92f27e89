Feature: What platforms say later of a message that was sent first
  WhatsApp and Twilio report what became of a message. Ann has a WhatsApp number and a Twilio number.

  Rule: Reports move a message on, and never back

    Scenario Outline: WhatsApp reports <reports>
      Given ann has sent a WhatsApp message to ada
      When WhatsApp reports <reports>
      Then the message is "<status>"

      Examples:
        | reports                     | status    |
        | sent                        | sent      |
        | sent, delivered             | delivered |
        | sent, delivered, read       | read      |
        | read, delivered, sent       | read      |
        | delivered, delivered        | delivered |

    Scenario Outline: Twilio reports <reports>
      Given ann has sent an SMS to ada
      When Twilio reports <reports>
      Then the message is "<status>"

      Examples:
        | reports               | status    |
        | queued, sent          | sent      |
        | sent, delivered       | delivered |
        | delivered, sent       | delivered |

    Scenario: Twilio is asked for reports
      Given ann has sent an SMS to ada
      Then Twilio was told where to report

    Scenario: A report of a message that nobody sent
      Given ann has sent a WhatsApp message to ada
      When WhatsApp reports that another message was read
      Then the message is "sent"

  Rule: A failure that is reported later makes a dead letter, which can be sent again

    Scenario: WhatsApp could not deliver
      Given ann has sent a WhatsApp message to ada
      When WhatsApp reports failed
      Then the message is "dead"
      And its reason is "More than 24 hours have passed"
      When ann replays it
      Then the message is "sent"
      And ada has it twice

    Scenario: Twilio could not deliver
      Given ann has sent an SMS to ada
      When Twilio reports undelivered
      Then the message is "dead"

  Rule: After 24 hours without a message of the person WhatsApp takes templates only

    Scenario: The window is closed
      Given ada has written to the WhatsApp number
      When 25 hours pass
      And ann sends "Your order is ready" to ada's conversation
      Then the request is "conflict"
      And the error asks for a template

    Scenario: The window is closed for her number too
      Given ada has written to the WhatsApp number
      When 25 hours pass
      And ann sends "Your order is ready" to ada's number
      Then the request is "conflict"

    Scenario: A message that WhatsApp hands over late
      Given WhatsApp hands over today what ada wrote 25 hours ago
      When ann sends "Your order is ready" to ada's conversation
      Then the request is "conflict"
      And the error asks for a template

    Scenario: An older message that comes after a newer one
      Given ada has written to the WhatsApp number
      And WhatsApp hands over today what ada wrote 25 hours ago
      When ann sends "Your order is ready" to ada's conversation
      Then the message is accepted

    Scenario: A template in a closed window
      Given ada has written to the WhatsApp number
      When 25 hours pass
      And ann sends the template "order_ready" to ada's conversation
      Then the message is accepted
      And ada gets the template "order_ready"

    Scenario: The window is open
      Given ada has written to the WhatsApp number
      When 23 hours pass
      And ann sends "Your order is ready" to ada's conversation
      Then the message is accepted

    Scenario: Nothing is known of the person
      When ann sends "Your order is ready" to ada's number
      Then the message is accepted

    Scenario: Ada writes again
      Given ada has written to the WhatsApp number
      When 25 hours pass
      And ada writes again
      And ann sends "Your order is ready" to ada's conversation
      Then the message is accepted
