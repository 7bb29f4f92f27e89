Feature: Edited messages
  People correct what they wrote. As long as nothing was answered, the resource gets the message as it reads now.

  Scenario: A message that waits is edited
    When Ada writes "When do you opne?"
    And Ada edits it to "When do you open?"
    Then the resource is asked "When do you open?"
    And Ada gets an answer to "When do you open?" alone

  Scenario: A message is edited while the resource works on it
    Given a worker is at work, and the resource takes its time
    When Ada writes "When do you opne?"
    And the resource has begun
    And Ada edits it to "When do you open?"
    Then the resource is asked "When do you opne?", then "When do you open?"
    And Ada gets an answer to "When do you open?" alone

  Scenario: An edit is delivered twice
    When Ada writes "When do you opne?"
    And Ada edits it to "When do you open?"
    And the messenger delivers the edit again
    Then the resource is asked "When do you open?"
    And Ada gets an answer to "When do you open?" alone

  Scenario: The second edit counts
    When Ada writes "When do you opne?"
    And Ada edits it to "When do you close?"
    And Ada edits it to "When do you open?"
    Then the resource is asked "When do you open?"
    And Ada gets an answer to "When do you open?" alone

  Scenario: An edit of a message that was answered is a message of its own
    When Ada writes "When do you open?"
    And that is answered
    And Ada edits it to "When do you close?"
    Then the resource is asked "When do you open?", then "When do you close?"
