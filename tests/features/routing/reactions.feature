Feature: Reactions
  A bot can show by a reaction that it has seen a message and is working on it.

  Scenario: The reaction is there while the resource works
    Given a bot that reacts with eyes, and a resource that takes its time
    When Ada writes "When do you open?"
    Then Ada's message has the reaction while she waits
    When the resource has answered
    Then the reaction is gone

  Scenario: A reaction that the messenger refuses costs the answer nothing
    Given a bot that reacts with eyes, which the messenger refuses
    When Ada writes "When do you open?"
    Then Ada gets the answer

  Scenario: Without the setting there is no reaction
    Given a bot that does not react
    When Ada writes "When do you open?"
    Then Ada gets the answer
    And her message never had a reaction
