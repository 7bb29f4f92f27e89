Feature: Approvals for models
  A model that connects by MCP sees what the key's user may decide, and decides where it may send.

  Background:
    Given a webhook of ann's about whose tool "refund" bob decides
    And a customer has asked for money back

  Scenario: What waits
    When bob's client lists the approvals
    Then it sees that "refund" waits, with its parameters and what the customer wrote
    When dora's client lists the approvals
    Then it sees none

  Scenario: The user decides
    When bob's client approves it, because "The parcel came back."
    Then it is told that bob approved "refund", because "The parcel came back."
    And bob's client lists none that waits, and one for all states

  Scenario: A decision is refused
    When dora's client approves it, because "I want to."
    Then it is refused: "only user:bob and admins decide"
    When bob's client approves it, because "x"
    And the admin's client rejects it
    Then it is refused: "was approved by"

  Scenario: Where clients may not send
    Then bob's client on a gateway where sending is off cannot decide
