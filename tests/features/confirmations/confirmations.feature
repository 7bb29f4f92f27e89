@s2.7 @s3.3
Feature: Tool confirmations
  A resource that wants to use a tool which a person has to approve asks the sender. The sender's next message
  decides.

  Background:
    Given a resource that asks before it uses the tool "open_valve"
    And "ada" wrote "open the valve"
    And the question has reached the chat

  Rule: The question names the tool, shows its parameters and offers three replies

    Scenario: What the sender reads
      Then the question holds "open_valve" and "pressure" and "12 bar"
      And the question holds "yes" and "always" and "no"
      And the buttons are "Approve", "Approve session" and "Reject"
      And each button's value has at most 64 bytes

  Rule: The sender's next message decides

    Scenario Outline: "<reply>" is <decision>
      When "ada" writes "<reply>"
      Then the resource is called again with the decision "<decision>"
      And it is handed the text "open the valve"

      Examples:
        | reply   | decision             |
        | yes     | approved             |
        | y       | approved             |
        | approve | approved             |
        | ok      | approved             |
        | 1       | approved             |
        | always  | approved_for_session |
        | 2       | approved_for_session |
        | no      | rejected             |
        | n       | rejected             |
        | reject  | rejected             |
        | cancel  | rejected             |
        | 3       | rejected             |
        |   YES   | approved             |
        | Always  | approved_for_session |
        | nO      | rejected             |

    Scenario: A decision is made once
      When "ada" writes "yes"
      And "ada" writes "yes"
      Then the resource is called again with the decision "approved"
      And then it is handed "yes" as a message

    Scenario Outline: Other text, such as "<text>", discards the question and is a message
      When "ada" writes "<text>"
      Then the resource is handed "<text>" as a message
      And when "ada" writes "yes" that is a message too

      Examples:
        | text          |
        | what is this? |
        | yes please    |
        | yes.          |
        | 4             |

    Scenario: A greeting of the channel discards it too
      When "ada" writes "/help"
      And "ada" writes "yes"
      Then the resource is handed "yes" as a message

  Rule: The question expires after 10 minutes

    Scenario: Just before
      When 9 minutes and 58 seconds pass
      And "ada" writes "yes"
      Then the resource is called again with the decision "approved"

    Scenario: Just after
      When 10 minutes and 0 seconds pass
      And "ada" writes "yes"
      Then the resource is handed "yes" as a message

  Rule: Only the sender who was asked decides, and only in that session

    Scenario: Another sender's reply
      When "bob" writes "yes"
      Then the resource is handed "yes" as a message
      And when "ada" writes "ok" the resource is called again with the decision "approved"

    Scenario: Another sender's other text does not discard it
      When "bob" writes "hello all"
      Then the resource is handed "hello all" as a message
      And when "ada" writes "no" the resource is called again with the decision "rejected"

    Scenario: The same sender in another session
      When "ada" writes "yes" in another chat
      Then the resource is handed "yes" as a message
      And when "ada" writes "y" the resource is called again with the decision "approved"

  Rule: An approval for the session lasts until it has been silent for 24 hours

    Scenario: The tool is not asked about again
      When "ada" writes "always"
      And "ada" writes "open the valve"
      Then the resource is told that "open_valve" is approved
      And nobody is asked a second time

    Scenario: Each message renews it
      Given "ada" wrote "always"
      When 23 hours pass
      And "ada" writes "still there?"
      And 23 hours pass
      And "ada" writes "and now?"
      Then the resource is told that "open_valve" is approved

    Scenario: Silence ends it
      Given "ada" wrote "always"
      When 24 hours pass
      And "ada" writes "open the valve"
      Then the resource is told that no tool is approved

    Scenario: Not in another session
      Given "ada" wrote "always"
      When "ada" writes "open the valve" in another chat
      Then the resource is told that no tool is approved

    Scenario: A resource that asks all the same
      Given the resource asks whatever is approved
      And "ada" wrote "always"
      When "ada" writes "open the valve"
      Then the resource is called again with the decision "approved_for_session"
      And that is the second request of the same message, also after a crash
      And nobody is asked a second time

  Rule: A press is the typed reply, and good once

    Scenario Outline: The button "<label>"
      When "ada" presses "<label>"
      Then the resource is called again with the decision "<decision>"
      And the platform is told "<words>"

      Examples:
        | label           | decision             | words                     |
        | Approve         | approved             | Approved                  |
        | Approve session | approved_for_session | Approved for this session |
        | Reject          | rejected             | Rejected                  |

    Scenario: Pressed twice
      When "ada" presses "Approve"
      And "ada" presses "Approve"
      Then the resource is called again with the decision "approved"
      And the platform is told "Approved" twice
      And the resource was called twice in all

    Scenario: Pressed too late
      When 10 minutes and 1 seconds pass
      And "ada" presses "Approve"
      Then the platform is told "This question is no longer open."
      And the resource was called once in all

    Scenario: Pressed by somebody else
      When "bob" presses "Approve"
      And the platform tells "bob" "Only the person who was asked can decide this."
      And "ada" presses "Reject"
      Then the resource is called again with the decision "rejected"
      And the resource was called twice in all

    Scenario: A button of a replaced question
      Given "ada" wrote "open the valve"
      And a second question has reached the chat
      When "ada" presses "Approve" of the first question
      Then the platform is told "This question is no longer open."
      And when "ada" presses "Approve" the resource is called again with the decision "approved"

  Rule: What was decided or discarded by typing cannot be pressed any more

    Scenario Outline: "<reply>"
      When "ada" writes "<reply>"
      Then the resource is called again with the decision "<decision>"
      And the question loses its buttons

      Examples:
        | reply  | decision             |
        | yes    | approved             |
        | always | approved_for_session |
        | no     | rejected             |

    Scenario Outline: The question is discarded by "<text>"
      When "ada" writes "<text>"
      Then the question loses its buttons

      Examples:
        | text          |
        | what is this? |
        | /help         |

    Scenario: The reply of somebody who was not asked
      When "bob" writes "yes"
      Then the resource is handed "yes" as a message
      And the question keeps its buttons

  Rule: An approval is for one use

    Scenario: The resource breaks off over an approved tool
      Given the resource breaks off after a decision
      When "ada" writes "yes"
      Then "ada" is told that it is not clear whether the tool was used
      And the resource was called twice in all

    Scenario: The resource breaks off over a rejected tool
      Given the resource breaks off after a decision
      When "ada" writes "no"
      Then "ada" is told that no answer could be got
      And the resource was called twice in all

  Rule: A new question replaces the old one

    Scenario: Two tools one after the other
      Given the resource asks for "close_valve" after a decision
      And "ada" wrote "yes"
      And a second question has reached the chat
      When "ada" writes "no"
      Then the resource is called again with the decision "rejected" on "close_valve"
