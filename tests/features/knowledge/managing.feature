@s2.8 @s4.6
Feature: Managing knowledge bases
  A user gathers files in a base, renames it, and throws it away whole.

  Rule: A base is created, shown, changed and deleted

    Scenario: A new base
      When ann creates the base "Handbook" described as "How we work"
      Then the request is "created"
      And the body says name "Handbook", description "How we work", type "kb" and status "published"

    Scenario: A base is shown to those who may read it
      Given ann has the base "Handbook"
      When ann asks for the base
      Then the request is "done"
      And the base is named "Handbook" and was created by ann

    Scenario Outline: A name is needed
      When ann creates a base with <what>
      Then the request is "invalid"
      And the error names "<field>"

      Examples:
        | what                                 | field       |
        | no name                              | name        |
        | an empty name                        | name        |
        | a name of spaces                     | name        |
        | a number as its name                 | name        |
        | a list as its manifest               | kb_manifest |
        | a number as its description          | description |
        | an infinite number in its manifest   | kb_manifest |
        | a NUL character in its name          | name        |
        | text that is no object               | JSON        |

    @grpc
    Scenario: An update answers with nothing
      Given ann has the base "Handbook"
      When ann renames the base to "Guide"
      Then the request is "done without a body"
      And ann's bases are "Guide"

    Scenario: A deleted base is gone with all that was in it
      Given ann has the base "Handbook"
      And ann has uploaded "pumps.txt" saying "The cooling pump is serviced in March."
      When ann deletes the base
      Then the request is "done without a body"
      And ann has no bases
      And nothing is left of "pumps.txt"

  Rule: What does not exist is not found, in these words

    Scenario Outline: An unknown base
      When ann sends <method> to <path>
      Then the request is "not found"
      And the error is "Knowledge base not found"

      Examples:
        | method | path                       |
        | GET    | /api/agent/kb/987654       |
        | GET    | /api/agent/kb/word         |
        | GET    | /api/agent/kb/99999999999999999999 |
        | PUT    | /api/agent/kb/987654       |
        | DELETE | /api/agent/kb/987654       |
        | GET    | /api/agent/kb/987654/files |
        | POST   | /api/agent/kb/987654/search |
        | GET    | /api/agent/kb/987654/permissions |
