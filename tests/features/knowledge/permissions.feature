@s5
Feature: Permissions on knowledge bases
  Level 1 reads, level 2 changes, level 3 deletes and shares; each includes the lower ones.

  Rule: Every action on a base needs its level

    Scenario Outline: What bob may do with ann's base
      Given ann has the base "Handbook"
      And ann gives bob level <level>
      When bob tries to <action>
      Then the answer is <status>

      Examples:
        | level | action | status |
        | 0     | get    | 403    |
        | 1     | get    | 200    |
        | 1     | update | 403    |
        | 1     | upload | 403    |
        | 2     | update | 204    |
        | 2     | upload | 201    |
        | 2     | delete | 403    |
        | 2     | share  | 403    |
        | 3     | share  | 204    |
        | 3     | delete | 204    |
        | 0     | search | 200    |
        | 0     | files  | 200    |

    Scenario: A refusal says Forbidden and nothing more
      Given ann has the base "Handbook"
      When bob tries to delete
      Then the answer is 403
      And the error is "Forbidden"

  Rule: The list shows what the caller may access, with the level

    Scenario: Shared and unshared
      Given ann has the base "Handbook"
      When ann gives bob level 2
      Then bob's bases are "Handbook" at level 2
      When ann gives bob level 0
      Then bob has no bases

    Scenario: An admin has level 3 everywhere
      Given ann has the base "Handbook"
      Then admin's bases are "Handbook" at level 3

  Rule: Without a key there is nothing

    Scenario: No key
      When nobody sends GET to /api/agent/kb
      Then the answer is 401
      And the error is "Unauthorized"
