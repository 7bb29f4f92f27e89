@s5
Feature: Permissions on knowledge bases
  Level 1 reads, level 2 changes, level 3 deletes and shares; each includes the lower ones.

  Rule: Every action on a base needs its level

    Scenario Outline: What bob may do with ann's base
      Given ann has the base "Handbook"
      And ann gives bob level <level>
      When bob tries to <action>
      Then the request is "<outcome>"

      Examples:
        | level | action | outcome             |
        | 0     | get    | forbidden           |
        | 1     | get    | done                |
        | 1     | update | forbidden           |
        | 1     | upload | forbidden           |
        | 2     | update | done without a body |
        | 2     | upload | created             |
        | 2     | delete | forbidden           |
        | 2     | share  | forbidden           |
        | 3     | share  | done without a body |
        | 3     | delete | done without a body |
        | 0     | search | done                |
        | 0     | files  | done                |

    Scenario: A refusal says Forbidden and nothing more
      Given ann has the base "Handbook"
      When bob tries to delete
      Then the request is "forbidden"
      And the error is "Forbidden"

  Rule: The list shows what the caller may access, with the level

    @grpc
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
      Then the request is "not known"
      And the error is "Unauthorized"
