@s5
Feature: Strict reading
  With KB_READ_POLICY=strict nothing that is in a base is open to those who may not read it.

  Rule: Every read needs READ on the base

    Scenario Outline: What bob may read of ann's base
      Given ann has the base "Handbook"
      And ann has uploaded "pumps.txt" saying "The cooling pump is serviced in March."
      And ann gives bob level <level>
      When bob tries to <action>
      Then the answer is <status>

      Examples:
        | level | action      | status |
        | 0     | search      | 403    |
        | 0     | files       | 403    |
        | 0     | read a file | 404    |
        | 0     | download    | 404    |
        | 0     | read chunks | 404    |
        | 0     | read a chunk | 404   |
        | 1     | search      | 200    |
        | 1     | files       | 200    |
        | 1     | read a file | 200    |
        | 1     | download    | 200    |
        | 1     | read chunks | 200    |
        | 1     | read a chunk | 200   |
