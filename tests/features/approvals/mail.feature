Feature: Approvals by mail
  By mail the first line decides, without punctuation, whatever follows it.

  Background:
    Given a mailbox of ann's whose resource wants to use the tool "refund"

  Rule: The sender answers the question

    Scenario Outline: The sender writes "<line>"
      Given the sender decides about it
      When ada mails "money back"
      Then ada is asked by mail about "refund"
      When ada answers with the line "<line>" and her regards
      Then the resource is told once that it was <decision>

      Examples:
        | line | decision |
        | Yes. | approved |
        | NO!  | rejected |

    Scenario: The sender writes more
      Given the sender decides about it
      When ada mails "money back"
      Then ada is asked by mail about "refund"
      When ada answers with the line "No, thanks" and her regards
      Then the resource gets it as a message

  Rule: An approver answers the mail of notifyVia

    Scenario Outline: The approver writes "<line>"
      Given the user bob decides about it, and wants mails of the mailbox about approvals
      When ada mails "money back"
      Then bob is asked by mail about "refund"
      When bob answers with the line "<line>" and his regards
      Then bob has <decision> it
      And the resource is told once that it was <decision>
      And bob reads by mail "The tool refund was <decision> by bob."

      Examples:
        | line     | decision |
        | Approve. | approved |
        | - no -   | rejected |

    Scenario: The approver writes more
      Given the user bob decides about it, and wants mails of the mailbox about approvals
      When ada mails "money back"
      Then bob is asked by mail about "refund"
      When bob answers with the line "Yes, but not before Monday" and his regards
      Then the resource gets it as a message
      And nobody has decided

    Scenario: Somebody else answers in the same thread
      Given the user bob decides about it, and wants mails of the mailbox about approvals
      When ada mails "money back"
      Then bob is asked by mail about "refund"
      When mallory answers with the line "Approve." and her regards
      Then the resource gets it as a message
      And nobody has decided

    Scenario: Somebody else answers in the same thread, and all senders of a thread share one conversation
      Given all senders of a thread share one conversation
      And the user bob decides about it, and wants mails of the mailbox about approvals
      When ada mails "money back"
      Then bob is asked by mail about "refund"
      When mallory answers with the line "Approve." and her regards
      Then mallory reads by mail "You cannot decide this"
      And nobody has decided
