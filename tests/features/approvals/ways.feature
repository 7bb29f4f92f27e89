Feature: Approvals where the approvers write
  Bob is notified of an approval in a conversation of the platform that he uses, and decides there.

  Background:
    Given a shop of ann's whose resource wants to use the tool "refund", about which the team Billing of bob and cleo decides

  Rule: In a conversation of their own, a press of the recipient decides

    Scenario Outline: The recipient presses "<button>" on <platform>
      Given bob is notified in his own conversation with ann's bot on <platform>
      When a customer asks for money back
      Then "bob" reads that the tool "refund" waits, with the parameters
      When "bob" presses "<button>"
      Then bob has <decision> it
      And "bob" reads that the tool "refund" was <decision> by bob
      And the resource is told once that it was <decision>

      Examples:
        | platform   | button  | decision |
        | Slack      | Approve | approved |
        | Teams      | Reject  | rejected |
        | Discord    | Approve | approved |
        | Mattermost | Approve | approved |
        | WhatsApp   | Reject  | rejected |

    Scenario Outline: The recipient writes "<reply>" where there are no buttons
      Given bob is notified in his own conversation with ann's bot on SMS
      When a customer asks for money back
      Then "bob" reads that the tool "refund" waits, with the parameters
      When "bob" writes "<reply>"
      Then bob has <decision> it
      And "bob" reads that the tool "refund" was <decision> by bob

      Examples:
        | reply   | decision |
        | yes     | approved |
        | 1       | approved |
        | Approve | approved |
        | NO      | rejected |
        | 2       | rejected |

    Scenario Outline: Anything else is a message like any other
      Given bob is notified in his own conversation with ann's bot on SMS
      When a customer asks for money back
      And "bob" writes "<reply>"
      Then the resource gets "<reply>" as a message
      And nobody has decided

      Examples:
        | reply          |
        | yes, but later |
        | always         |
        | 3              |

    Scenario: A reply after somebody else was faster
      Given bob is notified in his own conversation with ann's bot on SMS
      When a customer asks for money back
      And cleo rejects it in the console
      And "bob" writes "yes"
      Then "bob" reads that the tool "refund" was rejected by cleo
      And the resource is told once that it was rejected

    Scenario: A question of his own came later
      Given bob is notified in his own conversation with ann's bot on SMS
      When a customer asks for money back
      And "bob" asks the bot for something that needs his own confirmation
      And "bob" writes "yes"
      Then the resource is told that bob's own tool was approved
      And nobody has decided

  Rule: Where others write too, a press of a verified approver decides

    Scenario Outline: In a channel on <platform>
      Given bob is notified in a channel on <platform> where others write too
      When a customer asks for money back
      And "ada" presses "Approve"
      Then somebody reads that they cannot decide this
      And nobody has decided
      When "bob" presses "Approve"
      Then somebody reads that they cannot decide this
      And nobody has decided
      When bob verifies that he is "bob" there
      And "bob" presses "Approve"
      Then bob has approved it
      And the resource is told once that it was approved

      Examples:
        | platform   |
        | Slack      |
        | Teams      |
        | Discord    |
        | Mattermost |
