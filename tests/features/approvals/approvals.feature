Feature: Approvals by colleagues
  A resource that wants to use a tool may need the approval of a user or a team. The sender hears that it waits, and what
  became of it; one decision counts.

  Background:
    Given a bot of ann whose resource wants to use the tool "refund"
    And the team Billing of bob and cleo

  Rule: The policy of the instance says who decides

    @grpc
    Scenario: A team decides
      Given the team Billing decides about "refund*"
      When ada writes "money back"
      Then ada reads "The tool refund needs an approval. I have asked for it, and write here once it is decided."
      And bob and cleo and admin see that "refund" waits
      And dora sees no approval
      When bob approves it, because "The parcel came back."
      Then the resource is told once that "refund" was approved
      And ada reads "The tool refund was approved. The parcel came back." and what the resource says
      And bob and cleo and admin see that "refund" was approved

    @grpc
    Scenario: A user decides
      Given the user bob decides about "refund"
      When ada writes "money back"
      Then cleo sees no approval
      And cleo may not decide
      When bob rejects it, because "It is broken."
      Then the resource is told once that "refund" was rejected
      And ada reads "The tool refund was not approved. It is broken." and what the resource says

    Scenario: The sender decides
      Given the sender decides about "refund"
      When ada writes "money back"
      Then bob sees no approval
      When ada writes "yes"
      Then the resource is told once that "refund" was approved
      And the audit log says that the sender approved "refund"

    Scenario: The sender does not decide for others
      Given the team Billing decides about "refund"
      When ada writes "money back"
      And ada writes "yes"
      Then the resource gets "yes" as a message
      And bob and cleo see that "refund" waits

    Scenario: The policy does not name the tool
      Given the team Billing decides about "delete*"
      When ada writes "money back"
      And ada writes "yes"
      Then the resource is told once that "refund" was approved

  Rule: The stricter policy counts

    Scenario Outline: The resource names <response>, the instance <instance>
      Given <instance> decides about "refund"
      And the resource names <response>
      When ada writes "money back"
      Then <asked> is asked

      Examples:
        | instance         | response         | asked      |
        | the sender       | the team Billing | team:Billing |
        | the team Billing | the sender       | team:Billing |
        | the team Billing | the user bob     | user:bob   |
        | the user bob     | the team Billing | user:bob   |
        | the user bob     | the user cleo    | user:bob   |

    Scenario: What the sender approved for the session does not count for others
      Given ada has approved "refund" for the session
      And the team Billing decides about "refund"
      When ada writes "money back"
      Then bob and cleo see that "refund" waits

  Rule: One decision counts

    Scenario: Two decide at once
      Given the team Billing decides about "refund"
      When ada writes "money back"
      And bob approves and cleo rejects at the same time
      Then one of them is told who was faster
      And the resource is told once

    Scenario: The same decision once more
      Given the team Billing decides about "refund"
      When ada writes "money back"
      And bob approves it
      And bob approves it
      Then the resource is told once that "refund" was approved

    @grpc
    Scenario: Nobody decides in time
      Given the team Billing decides about "refund" within 30 minutes
      When ada writes "money back"
      And 31 minutes pass
      Then the resource is told once that "refund" was rejected
      And ada reads "Nobody decided in time about the tool refund, so it is not used." and what the resource says
      And bob cannot decide any more

    Scenario: The process was killed after the decision
      Given the team Billing decides about "refund"
      When ada writes "money back"
      And bob approves it, and the process dies while the tool is used
      Then ada reads "I was interrupted while refund was being used"
      And the resource is not told once more

    Scenario: A person has the conversation
      Given the team Billing decides about "refund"
      When ada writes "money back"
      And dora takes the conversation over
      And bob approves it
      Then the resource is told once that "refund" was approved

    @grpc
    Scenario: What waits, a page at a time
      Given the team Billing decides about "refund"
      When ada writes "money back"
      And bert writes "money back"
      And bob approves it
      Then bob lists one approval that waits and one that was decided, on pages of one
      And bob reads each of them by its number
      And dora may read none of them
      And there is no approval 4711 for bob
      And nothing but approved and rejected is a decision

  Rule: Everything says the same

    Scenario: Audit log, timeline and events
      Given the team Billing decides about "refund"
      And somebody follows the events
      When ada writes "money back"
      And bob rejects it, because "It is broken."
      Then the audit log says that bob rejected "refund" with its parameters, because "It is broken."
      And the timeline says that team:Billing was asked and bob rejected it because "It is broken."
      And the events say that "refund" was asked and rejected by bob

  Rule: Who is asked is notified, and decides there

    Scenario: By a button in their own conversation
      Given the team Billing decides about "refund"
      And bob wants messages about approvals to bert's conversation with the bot
      When ada writes "money back"
      Then bert reads "The tool refund waits for an approval on bot-messenger." with the parameters and two buttons
      When bert presses "Approve"
      Then the resource is told once that "refund" was approved
      And bert reads "The tool refund was approved by bob."
      And the audit log says that bob approved "refund"
      When bert presses "Reject"
      Then bert reads "The tool refund was approved by bob."
      And the resource is told once

    Scenario: A button that somebody made up
      Given the team Billing decides about "refund"
      When ada writes "money back"
      And ada sends the button of an approver with a false proof
      Then nobody has decided

    Scenario: Somebody who left the team
      Given the team Billing decides about "refund"
      And bob wants messages about approvals to bert's conversation with the bot
      When ada writes "money back"
      And bob leaves the team
      And bert presses "Approve"
      Then bert is told about his press "You cannot decide this: you are not known here as one who is asked for this approval."
      And nobody has decided

    Scenario: A person has the conversation in which bob is notified
      Given the user bob decides about "refund"
      And bob wants messages about approvals to bert's conversation with the bot
      When ada writes "money back"
      And ann has bert's conversation, and bert presses "Approve"
      Then nobody has decided
      When ann gives bert's conversation back
      Then the resource is told once that "refund" was approved

    Scenario: Somebody who is suspended
      Given the user bob decides about "refund"
      And bob wants messages about approvals to bert's conversation with the bot
      When ada writes "money back"
      And admin suspends bob
      And bert presses "Approve"
      Then bert is told about his press "You cannot decide this: you are not known here as one who is asked for this approval."
      And nobody has decided

    Scenario Outline: Nobody of those whom the policy names is there any more, as admin <does>
      Given <who> decides about "refund"
      And admin <does>
      When ada writes "money back"
      Then admin is notified that "refund" waits
      When admin approves it
      Then the resource is told once that "refund" was approved

      Examples:
        | who              | does                  |
        | the user bob     | suspends bob          |
        | the user bob     | deletes bob           |
        | the team Billing | deletes the team      |

  Rule: A policy is checked when it is saved

    @grpc
    Scenario Outline: A policy with <fault>
      When ann saves a policy with <fault>
      Then it is refused: <refusal>

      Examples:
        | fault                  | refusal                                                                            |
        | an unknown user        | approvalPolicy[0].by: there is no user:nobody                                       |
        | an unknown team        | approvalPolicy[0].by: there is no team:99                                           |
        | a wrong word           | approvalPolicy[0].by: must be sender, user:ID or team:ID                            |
        | no tool                | approvalPolicy[0].tool: must be the name of a tool, or a glob such as refund*       |
        | too long a time        | approvalPolicy[0].minutes: must be a whole number from 1 to 10080                   |
        | minutes for the sender | approvalPolicy[0].minutes: is for users and teams; the sender has 10                |
        | too many rules         | approvalPolicy: must be at most 50                                                  |
