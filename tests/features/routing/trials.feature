Feature: Resources tried by hand
  Before an instance is bound to a resource, one can see what takes the id, and ask it a question.
  The rules file sends "agent::weather*" to a service with a token, and "agent::old" to one that is gone.

  Rule: Admins see the rules in force, without secrets

    @grpc
    Scenario: All rules in their order
      When the admin looks at the rules
      Then "agent::weather*" stands before "agent::old", then come the built-ins
      And the line of each rule in the file is told
      And no token, password or secret of an address is shown

    Scenario: A user
      Then ann may not see the rules

    Scenario: The file was changed, and has a fault
      Given somebody breaks the rules file, and it is read again
      When the admin looks at the rules
      Then the fault is told with its line
      And "agent::weather*" stands before "agent::old", then come the built-ins

  Rule: A trial tells what takes an id, and asks it where that is wanted

    Scenario Outline: Who takes <id>
      When ann tries "<id>" without asking it
      Then it is taken by <what>
      And nobody was asked

      Examples:
        | id               | what            |
        | agent::weather_2 | a rule          |
        | agent::echo      | a built-in      |
        | agent::kb-12     | a built-in      |
        | agent::unknown   | nothing         |

    Scenario: An answer
      When ann asks "agent::weather" the question "Rain?"
      Then she is answered "Noted: Rain?" with the file "map.png", and that it took some time
      And the resource was told that ann asks, in a conversation of its own

    @grpc
    Scenario: The tokens of an answer
      Given the service says that models read 812 tokens and wrote 64
      When ann asks "agent::weather" the question "Rain?"
      Then the trial tells 812 tokens read and 64 written

    Scenario: A resource that does not tell its tokens
      When ann asks "agent::weather" the question "Rain?"
      Then the trial tells no tokens

    Scenario: An admin sees the rule too
      When the admin asks "agent::weather" the question "Rain?"
      Then the rule "agent::weather*" is told

    Scenario: A resource that cannot be reached
      When ann asks "agent::old" the question "Anybody?"
      Then the failure is told in words, without the password of its address

    Scenario: A resource that refuses
      Given the service refuses everything
      When ann asks "agent::weather" the question "Rain?"
      Then the failure is told as that of a resource that refuses

    Scenario Outline: What cannot be tried: <what>
      When ann asks "<id>" the question "<text>"
      Then that is refused, naming "<field>"

      Examples:
        | what            | id             | text | field                |
        | an id of no use | agent::a b     | Hi   | downStreamResourceId |
        | no question     | agent::weather |      | text                 |
