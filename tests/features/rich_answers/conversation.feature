Feature: What an answer does to its conversation
  A resource may name who is responsible for a conversation, label it and close it.

  Scenario: A conversation is assigned, labelled and closed
    Given a resource that assigns the conversation to "team:support", labels it "sale" and closes it
    When "ada" writes "order" to the bot alone on SMS
    Then the conversation is closed, has the label "sale" and the assignee "team:support"
    And it is found by its label, its assignee and its state
    And the timeline of the message ends with "assigned to team:support, labelled sale, closed"

  Scenario: An answer that sends nothing tells in the timeline what it changed
    Given a resource that silently assigns the conversation to "team:support", labels it "sale" and closes it
    When "ada" writes "order" to the bot alone on SMS
    Then the conversation is closed, has the label "sale" and the assignee "team:support"
    And the timeline of the message, which has no answer, ends with "assigned to team:support, labelled sale, closed"

  Scenario: An answer that changes nothing has no such step
    Given a resource that only answers
    When "ada" writes "order" to the bot alone on SMS
    Then the timeline of the message tells of no change

  Scenario: A closed conversation is open again once the person writes
    Given a resource that assigns the conversation to "team:support", labels it "sale" and closes it
    When "ada" writes "order" to the bot alone on SMS
    And "ada" writes "hello"
    Then the conversation is open, has the label "sale" and the assignee "team:support"

  Scenario: A label and the assignee are taken away
    Given a resource that assigns the conversation to "team:support", labels it "sale" and closes it
    When "ada" writes "order" to the bot alone on SMS
    And the resource takes the label "sale" and the assignee away
    Then the conversation is open, has no label and no assignee
