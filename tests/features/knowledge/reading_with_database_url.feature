Feature: Reading with a database of one's own
  With DATABASE_URL several people share an installation. What the interface documents stays open to everybody with a
  key; every other read needs READ on the base.

  Scenario Outline: What bob reads of ann's base with <permission>
    Given ann has the base "Handbook"
    And ann has uploaded "pumps.txt" saying "The cooling pump is serviced in March."
    When ann gives bob <permission>
    Then bob reads what the interface documents
    And bob reads <what else>
    And a model that asks in bob's name gets the same

    Examples:
      | permission | what else           |
      | nothing    | nothing else        |
      | READ       | everything else too |

  Scenario: Reads that are described
    Then each read of a base that the description lists is one of these
