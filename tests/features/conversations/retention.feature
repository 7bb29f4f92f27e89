Feature: What is kept for how long
  No table grows for ever: what is over goes by its age, and nothing goes before.

  Scenario: A reply that was sent is known for 14 days
    Given a bot of ann that repeats what it hears
    And ada has written to it
    When old rows are cleaned after 13 days
    Then ann sees 1 reply that is sent
    When old rows are cleaned after 15 days
    Then ann sees 0 replies that are sent
    And ada's conversation still has her words and the answer

  Scenario: A dead letter waits 90 days for somebody who sends it again
    Given a bot of ann whose platform refuses answers
    And ada has written to it
    When old rows are cleaned after 89 days
    Then ann sees 1 reply that is dead
    When old rows are cleaned after 91 days
    Then ann sees 0 replies that are dead

  Scenario: A conversation is forgotten 30 days after its last message
    Given a bot of ann that repeats what it hears
    And ada has written to it
    When old rows are cleaned after 29 days
    Then ada's conversation still has her words and the answer
    When old rows are cleaned after 31 days
    Then ada's conversation is forgotten

  Scenario: A message that waits does not go by age
    Given a bot of ann that repeats what it hears
    And nobody works on what ada has written
    When old rows are cleaned after 400 days
    Then ada's message still waits
