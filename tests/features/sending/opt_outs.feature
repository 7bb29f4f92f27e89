Feature: People who want no more text messages
  Ann has a text message number that echoes. STOP and START are words of the carriers.

  Rule: After STOP a person gets no messages until START

    Scenario: A message to a person who wrote STOP
      Given bob has written "Stop"
      When ann sends "Sale today" to bob
      Then the message is refused, as bob wrote STOP
      And bob gets nothing

    Scenario: An answer to a person who wrote STOP
      Given bob has written "STOP"
      When bob writes "Is the shop open?"
      Then the answer is a dead letter, as bob wrote STOP
      And bob gets nothing

    Scenario: A dead letter that is sent again after START
      Given bob has written "STOP"
      When bob writes "Is the shop open?"
      Then the answer is a dead letter, as bob wrote STOP
      When bob writes "START"
      And ann has the dead letter sent again
      Then bob reads "Is the shop open?"

    Scenario: A person who wrote START later
      Given bob has written "STOP"
      And bob has written "start"
      When ann sends "Sale today" to bob
      Then the message is accepted
      And bob reads "Sale today"

    Scenario: STOP in the name of somebody else
      Given somebody has written "STOP" in bob's name, without proof
      When ann sends "Sale today" to bob
      Then the message is accepted
      And bob reads "Sale today"

    Scenario: Another person's STOP
      Given bob has written "STOP"
      When ann sends "Sale today" to carol
      Then the message is accepted
      And carol reads "Sale today"
