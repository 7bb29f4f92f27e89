@s2.7 @s3.3
Feature: What people see of a question with buttons
  A button names its question. Whoever presses it, and whenever, what is shown afterwards is true.

  Rule: A press of somebody else changes nothing

    Scenario Outline: Somebody else presses a button on <platform>
      Given "ada" was asked on <platform> about the tool "open_valve"
      When "bob" presses "Approve"
      Then "bob" is told "Only the person who was asked can decide this."
      And the question reads as it was asked, with its buttons
      When "ada" presses "Reject"
      Then the resource is called once more, with the decision "rejected"

      Examples:
        | platform |
        | Slack    |
        | Teams    |
        | Discord  |
        | Telegram |
        | Mattermost |

    Scenario Outline: A press reaches another instance on <platform>
      Given "ada" was asked on <platform> about the tool "open_valve"
      And another instance of the same bot
      When "ada" presses "Approve", and the press reaches the other instance
      Then "ada" is told "This question was asked in another conversation. Please decide it there."
      And the question reads as it was asked, with its buttons
      When "ada" presses "Approve"
      Then the resource is called once more, with the decision "approved"

      Examples:
        | platform |
        | Slack    |
        | Teams    |
        | Discord  |
        | Telegram |
        | Mattermost |
        | WhatsApp |

    Scenario Outline: Somebody sends made-up button values on <platform>
      Given "ada" was asked on <platform> about the tool "open_valve"
      When "bob" sends the button value "approval:1:bm90LWEtbm9uY2UtYXQtYWxs"
      Then "bob" is told "This question is no longer open."
      When "bob" sends the button value "approval:"
      Then the question reads as it was asked, with its buttons
      When "ada" presses "Approve"
      Then the resource is called once more, with the decision "approved"

      Examples:
        | platform |
        | Slack    |
        | Teams    |
        | Discord  |
        | Telegram |

    Scenario: Somebody has answered below the question on Slack
      Given "ada" was asked on Slack about the tool "open_valve"
      And a thread below the question
      When "bob" presses "Approve"
      Then "bob" is told "Only the person who was asked can decide this."
      When "ada" presses "Approve"
      Then the resource is called once more, with the decision "approved"

  Rule: A question that was decided shows what was asked, the decision and who decided

    Scenario Outline: Decided by a press on <platform>
      Given "ada" was asked on <platform> about the tool "open_valve"
      When "ada" presses "Approve session"
      Then the question reads "Approved for this session" and "Ada" and "open_valve" and "12 bar", without buttons
      And the question reads the day and the time of the decision, in UTC
      And the question does not read "Please reply"

      Examples:
        | platform |
        | Slack    |
        | Teams    |
        | Discord  |
        | Telegram |
        | Mattermost |

    Scenario Outline: Decided by a typed reply on <platform>
      Given "ada" was asked on <platform> about the tool "open_valve"
      When "ada" writes "no"
      Then the question reads "Rejected" and "<name>" and "open_valve" and "12 bar", without buttons

      Examples:
        | platform | name  |
        | Slack    | U0ADA |
        | Teams    | Ada   |
        | Discord  | Ada   |
        | Telegram | Ada   |
        | Mattermost | Ada |

    Scenario: Asked and decided by slash commands on Slack
      Given "ada" was asked by a slash command on Slack about the tool "open_valve"
      When "ada" writes "no"
      Then the question reads "Rejected" and "ada" and "open_valve" and "12 bar", without buttons

    Scenario Outline: A press on <platform> names another message
      Given "ada" was asked on <platform> about the tool "open_valve"
      And a client of "ada" whose presses name another message
      When "ada" presses "Approve"
      Then the question reads "Approved" and "Ada" and "open_valve" and "12 bar", without buttons
      When "ada" presses "Reject"
      Then the platform reads "Approved"
      And no other message is changed

      Examples:
        | platform |
        | Teams    |
        | Telegram |
        | Mattermost |

    Scenario Outline: A name is no markup on <platform>
      Given "ada" is called "*A* <@U1> @everyone [x](http://evil.example)"
      And "ada" was asked on <platform> about the tool "open_valve"
      When "ada" presses "Approve"
      Then the question reads "Approved" and "everyone" and "open_valve" and "12 bar", without buttons
      And the name stands there without markup

      Examples:
        | platform |
        | Slack    |
        | Teams    |
        | Discord  |
        | Telegram |
        | Mattermost |

    Scenario Outline: More parameters than one message holds on <platform>
      Given "ada" was asked on <platform> about the tool "open_valve" with very long parameters
      When "ada" presses "Approve"
      Then the question reads "Approved" and "Ada" and "open_valve" and "first", without buttons

      Examples:
        | platform |
        | Slack    |
        | Teams    |
        | Discord  |
        | Telegram |
        | Mattermost |

  Rule: A press after the decision repeats the decision

    Scenario Outline: <who> presses "Reject" on <platform> after the decision
      Given "ada" was asked on <platform> about the tool "open_valve"
      And "ada" approved it by <way>
      When "<who>" presses "Reject"
      Then the question reads "Approved" and "open_valve" and "12 bar" and "12 bar", without buttons
      And nothing on the platform reads "no longer open"
      And the resource is not called again

      Examples:
        | platform | way      | who |
        | Slack    | a press  | ada |
        | Slack    | a reply  | ada |
        | Slack    | a press  | bob |
        | Teams    | a press  | ada |
        | Teams    | a reply  | ada |
        | Teams    | a press  | bob |
        | Discord  | a press  | ada |
        | Discord  | a reply  | ada |
        | Discord  | a press  | bob |
        | Telegram | a press  | ada |
        | Telegram | a reply  | ada |
        | Telegram | a press  | bob |
        | Mattermost | a press | ada |
        | Mattermost | a reply | ada |
        | Mattermost | a press | bob |

    Scenario Outline: Other messages and another question lie in between on <platform>
      Given "ada" was asked on <platform> about the tool "open_valve"
      And "ada" approved it by a press
      And "ada" wrote "thank you"
      And "ada" was asked about the tool "open_valve" again
      When "ada" presses "Reject" of the first question
      Then the first question reads "Approved" and "open_valve" and "12 bar" and "12 bar", without buttons
      When "ada" presses "Reject"
      Then the resource is called once more, with the decision "rejected"
      And nothing on the platform reads "no longer open"

      Examples:
        | platform |
        | Slack    |
        | Teams    |
        | Discord  |
        | Telegram |
        | Mattermost |

    Scenario: WhatsApp cannot change a message: the decision is said again
      Given "ada" was asked on WhatsApp about the tool "open_valve"
      And "ada" approved it by a press
      When "ada" presses "Reject"
      Then "ada" is told "Approved"
      And the resource is not called again

    Scenario Outline: A week later the question is no longer open on <platform>
      Given "ada" was asked on <platform> about the tool "open_valve"
      And "ada" approved it by a press
      And 10 days have passed
      When "ada" presses "Reject"
      Then the platform reads "This question is no longer open."

      Examples:
        | platform |
        | Slack    |
        | Teams    |
        | Discord  |
        | Telegram |
        | Mattermost |
        | WhatsApp |

  Rule: A question that ended undecided shows what was asked

    Scenario Outline: Pressed after ten minutes on <platform>
      Given "ada" was asked on <platform> about the tool "open_valve"
      And 11 minutes have passed
      When "ada" presses "Approve"
      Then the question reads "no longer open" and "open_valve" and "12 bar" and "12 bar", without buttons
      And the resource is not called again

      Examples:
        | platform |
        | Slack    |
        | Teams    |
        | Discord  |
        | Telegram |
        | Mattermost |

    Scenario Outline: Replaced by the question to somebody else on <platform>
      Given "ada" was asked on <platform> about the tool "open_valve"
      When "bob" is asked about the tool "open_valve" in the same conversation
      Then the first question reads "no longer open" and "open_valve" and "12 bar" and "12 bar", without buttons
      When "ada" presses "Approve"
      Then "ada" is told "Only the person who was asked can decide this."
      When "bob" presses "Approve"
      Then the resource is called once more, with the decision "approved"

      Examples:
        | platform |
        | Slack    |
        | Teams    |
        | Telegram |
