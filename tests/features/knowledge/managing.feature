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
      When ann creates a base with the body <body>
      Then the request is "invalid"
      And the error names "<field>"

      Examples:
        | body                                  | field       |
        | {}                                    | name        |
        | {"name": ""}                          | name        |
        | {"name": "  "}                        | name        |
        | {"name": 7}                           | name        |
        | {"name": "a", "kb_manifest": [1]}     | kb_manifest |
        | {"name": "a", "description": 1}       | description |
        | {"name": "a", "kb_manifest": {"a": 1e999}} | kb_manifest |
        | {"name": "a\\u0000b"}                  | name        |
        | not json                              | JSON        |

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
