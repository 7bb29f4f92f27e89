Feature: What went wrong
  An operator in an outage sees first what is broken and why, and fixes it.

  @narrow
  Scenario: A resource that failed is found from the overview, and its messages are replayed by keyboard alone
    Given the resource of ann's channel has failed for two messages
    When ann opens the overview
    Then it says that messages are not answered, and why
    And a chart and a table tell how many messages were received and given up
    When she opens the problems and ticks all messages
    And she replays them and confirms, now that the resource works
    Then nothing is given up any more, and the senders have their answers

  Scenario: A message that is given up while the page is open is told at once
    Given the resource of ann's channel has failed for two messages
    And an answer of the channel could not be delivered
    And ann looks at the problems
    When she opens the payload of the answer
    Then she sees what was to be sent
    When another message is given up
    Then the page says that more messages were given up
