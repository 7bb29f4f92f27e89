@s5
Feature: Strict reading
  With KB_READ_POLICY=strict nothing that is in a base is open to those who may not read it.

  Rule: Every read needs READ on the base

    Scenario Outline: What bob may read of ann's base
      Given ann has the base "Handbook"
      And ann has uploaded "pumps.txt" saying "The cooling pump is serviced in March."
      And ann gives bob level <level>
      When bob tries to <action>
      Then the request is "<outcome>"

      Examples:
        | level | action       | outcome   |
        | 0     | search       | forbidden |
        | 0     | files        | forbidden |
        | 0     | explain      | forbidden |
        | 0     | ask          | forbidden |
        | 0     | delete       | forbidden |
        | 0     | retry        | forbidden |
        | 0     | read a file  | not found |
        | 0     | read a text  | not found |
        | 0     | download     | not found |
        | 0     | read chunks  | not found |
        | 0     | read a chunk | not found |
        | 1     | search       | done      |
        | 1     | files        | done      |
        | 1     | explain      | done      |
        | 1     | ask          | done      |
        | 1     | delete       | forbidden |
        | 1     | retry        | forbidden |
        | 2     | retry        | conflict  |
        | 1     | read a file  | done      |
        | 1     | read a text  | done      |
        | 1     | download     | done      |
        | 1     | read chunks  | done      |
        | 1     | read a chunk | done      |
