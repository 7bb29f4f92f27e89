Feature: What comes after an approval
  What the resource answers after a decision counts as after any message, and a failure is told.

  Background:
    Given a bot of ann whose resource wants to use the tool "refund"
    And the team Billing of bob and cleo
    And the team Billing decides about "refund"

  Rule: A failure is told, and the tool is not used twice

    Scenario Outline: The resource <fails>
      When ada writes "money back"
      And the resource then <fails>
      And bob <decides> it
      Then the resource is told once
      And ada reads "<text>"
      And the instance is not well

      Examples:
        | fails                                | decides  | text                                       |
        | answers too late                     | approves | I was interrupted while refund was being used |
        | cannot be reached                    | approves | The tool refund was approved.              |
        | answers too late                     | rejects  | The tool refund was not approved.          |
        | raises an error of the service itself | approves | The tool refund was approved.              |

    Scenario: The database is away once the resource has answered
      When ada writes "money back"
      And the database is away for a moment once the resource has answered
      And bob approves it
      Then the resource is told once
      And ada reads "Your money comes back."

    Scenario: A slow resource holds up nobody else
      When ada writes "money back"
      And bert writes "money back"
      And the resource then takes its time with ada
      And bob approves all
      Then bert reads "Your money comes back."
      And ada does not yet read "Your money comes back."
      When the resource has done it
      Then ada reads "Your money comes back."

  Rule: What is gone meanwhile is left alone

    Scenario Outline: <what>
      When ada writes "money back"
      And <what>
      Then no approval is left
      And the resource is not told once more

      Examples:
        | what                          |
        | ann erases ada's conversation |
        | ann deletes the bot           |

    Scenario: The bot has another resource
      When ada writes "money back"
      And ann gives the bot another resource
      And bob approves it
      Then ada reads "This question is no longer open."
      And the resource is not told once more

    Scenario: The budget is used up
      When ada writes "money back"
      And the budget of the bot is used up
      And bob approves it
      Then ada reads "budget"
      And the resource is not told once more

  Rule: The answer goes where the answers of the instance go

    Scenario: A schedule that delivers to a person
      Given a schedule of ann's that delivers to ada through the bot
      When the schedule asks for money back
      Then ada reads "The tool refund needs an approval."
      When bob approves it
      Then ada reads "Your money comes back."

    Scenario: A schedule that delivers nowhere
      Given a schedule of ann's that delivers nowhere
      When the schedule asks for money back
      And bob approves it
      Then the resource is told once
      And the schedule is well

  Rule: The answer after the decision counts as any other

    Scenario: Choices
      When ada writes "money back"
      And the resource then offers "Cash" and "Voucher"
      And bob approves it
      Then ada reads "How?"
      When ada presses "Voucher"
      Then the resource gets "Voucher" as a message

    Scenario: A file
      When ada writes "money back"
      And the resource then sends the file "receipt.txt"
      And bob approves it
      Then ada gets the file "receipt.txt"

    Scenario: A person is wanted
      When ada writes "money back"
      And the resource then wants a person
      And bob approves it
      Then ada reads "A colleague goes on."
      And the conversation waits for a person

    Scenario: Labels
      When ada writes "money back"
      And the resource then labels the conversation "refunded"
      And bob approves it
      Then ada reads "Labelled."
      And the conversation has the label "refunded"

    Scenario: A form
      When ada writes "money back"
      And the resource then asks for the account by a form
      And bob approves it
      Then ada reads "Account number"
      When ada writes "4711"
      Then the resource gets the form with "4711"

  Rule: The resource may ask again

    Scenario: The team decides about the next tool too
      When ada writes "money back"
      And the resource then wants the tool "refund_more"
      And the team Billing decides about "refund*"
      And bob approves it
      Then ada reads "The tool refund_more needs an approval."
      When bob approves it
      Then the resource is told that "refund" and "refund_more" were approved

    Scenario: The sender decides about the next tool
      When ada writes "money back"
      And the resource then wants the tool "send_mail"
      And bob approves it
      Then ada reads "The tool send_mail needs your approval."
      When ada presses "Approve"
      Then the resource is told that "refund" and "send_mail" were approved
