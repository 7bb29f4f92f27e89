Feature: Fallback
  Where a resource fails, the resources of the instance's fallback are asked in turn with the same message.

  Scenario: The next one answers
    Given a bot of "agent::a" with the fallback "agent::b" and "agent::c"
    And "agent::a" and "agent::b" fail
    When Ada writes "Hello"
    Then Ada gets the answer of "agent::c" alone
    And all three were asked with the same request id
    And the timeline says that "agent::a_0" and "agent::b_0" failed and "agent::c_0" answered
    And the health says "answered by fallback agent::c_0: agent::a_0: it is broken; agent::b_0: it is broken"

  Scenario: The instance is healthy again when its own resource answers
    Given a bot of "agent::a" with the fallback "agent::b" and "agent::c"
    And "agent::a" fails
    When Ada writes "Hello"
    And "agent::a" works again
    And Ada writes "Hello again"
    Then the instance is healthy

  Scenario: Nothing is connected to the first one
    Given a bot of "agent::a" with the fallback "agent::b" and "agent::c"
    And nothing is connected to "agent::a"
    When Ada writes "Hello"
    Then Ada gets the answer of "agent::b" alone
    And the health says "answered by fallback agent::b_0: agent::a_0: nothing is connected to this id"

  Scenario: Nothing is connected to any of them
    Given a bot of "agent::a" with the fallback "agent::b" and "agent::c"
    And nothing is connected to any resource
    When Ada writes "Hello"
    Then Ada is told "No resource is connected to agent::c_0, so nobody can answer."

  Scenario: All of them fail
    Given a bot of "agent::a" with the fallback "agent::b" and "agent::c"
    And all resources fail
    When Ada writes "Hello"
    Then Ada gets one apology
    And the message failed with all reasons on record
    And the apology in the history is of no resource

  Scenario: The instance's own resource stands in the fallback too
    Given a bot of "agent::a" with the fallback "agent::a_0" and "agent::b"
    And "agent::a" fails
    When Ada writes "Hello"
    Then Ada gets the answer of "agent::b" alone
    And "agent::a" was asked once

  Scenario: An approved tool is never used by another resource
    Given a bot of "agent::a" with the fallback "agent::b" and "agent::c"
    And "agent::a" asks for a tool, and fails once it is approved
    When Ada writes "open the valve"
    And Ada writes "yes"
    Then only "agent::a" was asked
    And Ada is told that nobody knows whether the tool was used

  Scenario: An approval for the session counts for the resource that asked
    Given a bot of "agent::a" with the fallback "agent::b" and "agent::c"
    And "agent::a" asks for a tool
    When Ada writes "open the valve"
    And Ada writes "always"
    And "agent::a" fails from now on
    And Ada writes "Hello"
    Then "agent::a" is told that "open_valve" is approved
    And "agent::b" is told that no tool is approved

  Scenario: The question of a resource that the bot no longer has is closed
    Given a bot of "agent::a" with the fallback "agent::b" and "agent::c"
    And "agent::a" asks for a tool
    When Ada writes "open the valve"
    And the bot is bound to "agent::d" alone
    And Ada writes "yes"
    Then Ada is told "This question is no longer open."
    And nobody but "agent::a" was asked

  Scenario: A draft that had begun is replaced
    Given a bot of "agent::a" with the fallback "agent::b" and "agent::c"
    And "agent::a" fails in the middle of its answer
    When Ada writes "Hello"
    Then Ada sees the answer of "agent::b" in the place of what "agent::a" had begun
