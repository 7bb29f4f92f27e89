Feature: Two users of MCP
  With strict reading, nothing that belongs to one user is open to the client of another.

  Background:
    Given ann has the base "Handbook" about "How we work"
    And ann has uploaded "pumps.txt" saying "The cooling pump is serviced in March."
    And ann has a webhook named "Shop" that repeats what it hears
    And "ada" has written "Where is my parcel?"

  Scenario: bob's model asks for what is ann's
    Then bob's model gets these answers, and nothing of ann's:
      | what                         | answer    |
      | list of bases                | empty     |
      | base by its name             | not found |
      | base by its number           | Forbidden |
      | passage                      | not found |
      | file                         | not found |
      | channels                     | empty     |
      | conversations                | empty     |
      | conversations of her channel | belongs   |
      | conversation                 | belongs   |
      | channel to send through      | belongs   |
      | list of resources            | empty     |
      | base as a resource           | Forbidden |
      | file as a resource           | not found |
    And ann's own model gets an answer to each of these

  Scenario: What ann gives bob, bob's model may read
    When ann lets bob read the base
    Then bob's model finds the passage, reads the file and sees the base as a resource
    And bob's model sees that it may only "read"

  Scenario: A key that is revoked stops a client that is connected
    When ann's key is revoked while her client is connected
    Then the connected client gets nothing more
