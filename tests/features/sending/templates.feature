Feature: Templates of WhatsApp
  WhatsApp takes ordinary messages within 24 hours of a person's last message, and after that only templates that it has
  approved. Ann has a WhatsApp number.

  Rule: A template can be sent at any time

    Scenario: A template for a person who has never written
      When ann sends the template "order_ready" with "Ada" and "4711" to ada
      Then the message is accepted
      And ada gets the template "order_ready" with "Ada" and "4711"

    Scenario: A template after the window
      Given ada wrote 25 hours ago
      When ann sends the template "order_ready" with "Ada" and "4711" to ada
      Then the message is accepted
      And ada gets the template "order_ready" with "Ada" and "4711"

  Rule: Anything else needs a message of the person's within the last 24 hours

    Scenario: A text within the window
      Given ada wrote 23 hours ago
      When ann sends the text "Your order is ready" to ada
      Then the message is accepted
      And ada gets the text "Your order is ready"

    Scenario: A text after the window
      Given ada wrote 25 hours ago
      When ann sends the text "Your order is ready" to ada
      Then the message is refused, as WhatsApp takes only templates now

    Scenario: A text after a window of which only WhatsApp knows
      Given WhatsApp says that ada's window is closed
      When ann sends the text "Your order is ready" to ada
      Then the message is accepted
      And the message is "dead"
      And its reason says that WhatsApp takes only templates now

  Rule: A template is WhatsApp's alone, and complete

    Scenario: A template without a language
      When ann sends a template without a language to ada
      Then the message is refused because of the language
