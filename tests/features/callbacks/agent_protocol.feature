@s4.1
Feature: A resource as an agent for other agents
  Other agents find a resource by its agent card and write to it by the Agent2Agent protocol, with its own client.

  Rule: The card says what the agent is

    @grpc
    Scenario: The card is open to all
      Given an agent whose resource answers "It is noon."
      Then its card names "Clock" with the skills "Time" and "Date", streaming, and a Bearer token

  Rule: A message becomes a task

    @grpc
    Scenario: A whole answer
      Given an agent whose resource answers "It is **noon**."
      When another agent asks "How late is it?"
      Then the resource is asked "How late is it?"
      And the task is "completed" with the text "It is **noon**."

    @grpc
    Scenario: Piece by piece
      Given an agent whose resource writes piece by piece
      When another agent asks "How late is it?" for a stream
      And the resource has written "It is"
      Then the other agent sees "It is" before the task is done
      When the resource ends with "It is noon."
      Then the task is "completed" with the text "It is noon."

    Scenario: What was shown is not the beginning of the answer
      Given an agent whose resource writes piece by piece
      When another agent asks "How late is it?" for a stream
      And the resource has written "Perhaps"
      Then the other agent sees "Perhaps" before the task is done
      When the resource ends with "It is noon."
      Then the task is "completed" with the text "It is noon."

    Scenario: Files
      Given an agent whose resource answers "Here it is." with the file "plan.txt"
      When another agent asks "The plan, please"
      Then the task is "completed" with the text "Here it is."
      And it has the file "plan.txt"

    Scenario: A resource that fails
      Given an agent whose resource fails
      When another agent asks "How late is it?"
      Then the task is "failed" with words

    Scenario: A stream of a resource that fails
      Given an agent whose resource fails
      When another agent asks "How late is it?" for a stream
      Then the task is "failed" with words

    Scenario: Parts of a message
      Given an agent whose resource answers "Thanks."
      When another agent sends a text, data and a file
      Then the resource gets the text with the data, and the file

    Scenario: The same message again
      Given an agent whose resource answers "It is noon."
      When another agent sends the same message twice
      Then both get the same task
      And the resource was asked once

    Scenario: The same id for another message
      Given an agent whose resource answers "It is noon."
      When another agent sends two messages with the same id
      Then they get two tasks

    Scenario: A context is a conversation
      Given an agent whose resource answers "It is noon."
      When another agent asks "a" and "b" in one context
      Then both messages are of one conversation

  Rule: A task may be looked at, awaited and cancelled

    @grpc
    Scenario: An answer that is fetched later
      Given an agent whose resource does not answer yet
      When another agent asks "How late is it?" without waiting
      Then the task is "working"
      When the resource answers
      Then the task becomes "completed" when it is looked at

    Scenario: A stream that is taken up again
      Given an agent whose resource does not answer yet
      When another agent asks "How late is it?" without waiting
      And it subscribes to the task
      And the resource answers
      Then the task is "completed" with the text "It is noon."

    @grpc
    Scenario: A task that is cancelled
      Given an agent whose resource does not answer yet
      When another agent asks "How late is it?" without waiting
      And the resource has been asked
      And the other agent cancels the task
      Then the task is "canceled"
      And the resource is stopped
      And the task becomes "canceled" when it is looked at

    Scenario: A stream whose task is cancelled
      Given an agent whose resource writes piece by piece
      When another agent asks "How late is it?" for a stream
      And the resource has written "It is"
      Then the other agent sees "It is" before the task is done
      When the other agent cancels the task
      Then the stream ends with the state "canceled"

    Scenario: A task that is over cannot be cancelled
      Given an agent whose resource answers "It is noon."
      When another agent asks "How late is it?"
      And the other agent cancels the task
      Then it is told "the task cannot be cancelled"

    Scenario: A task that is over takes no message
      Given an agent whose resource answers "It is noon."
      When another agent asks "How late is it?"
      And the other agent tries to write "And now?" to the task
      Then it is told "the task has ended, and takes no message"
      And the resource was asked once

    Scenario: An answer to a task that is sent twice
      Given an agent whose resource asks to use a tool
      When another agent asks "Write to Ann"
      And the other agent answers "yes" to the task twice
      Then the task is "completed" with the text "Done."
      And the resource is asked twice

    Scenario Outline: <what> of a task that nobody knows
      Given an agent whose resource answers "It is noon."
      When the other agent does this with an unknown task: <what>
      Then it is told "there is no such message"

      Examples:
        | what         |
        | looking      |
        | cancelling   |
        | subscribing  |
        | continuing   |

  Rule: What the resource asks is the other agent's turn

    Scenario: A choice
      Given an agent whose resource offers "Small" and "Large"
      When another agent asks "A shirt"
      Then the task is "input required" with the words "Which one?\n\n1. Small\n2. Large"
      When the other agent answers "2" to the task
      Then the resource is asked "large" as a choice
      And the task is still the same one

    Scenario: The approval of a tool
      Given an agent whose resource asks to use a tool
      When another agent asks "Write to Ann" for a stream
      Then the task is "input required" with words
      When the other agent answers "yes" to the task
      Then the task is "completed" with the text "Done."
      And the task becomes "completed" when it is looked at

  Rule: What cannot be served is told in the protocol's own words

    @grpc
    Scenario Outline: A call with <what>
      Given an agent whose resource answers "Yes."
      When another agent calls with <what>
      Then it is told "<text>" with the code <code>
      And nothing is stored

      Examples:
        | what                  | code   | text                                |
        | another key           | -32603 | is not the apiKey of this instance  |
        | an unknown method     | -32601 | there is no method                  |
        | a list of tasks       | -32004 | not listed                          |
        | push notifications    | -32003 | not supported                       |
        | another version       | -32009 | is not supported                    |
        | no parts              | -32602 | message.parts: must not be empty    |
        | no id                 | -32602 | message.messageId: is required      |
        | a part of nothing     | -32602 | must have text, data, url or raw    |
        | a strange task        | -32001 | must be the id of a task            |
        | no task               | -32602 | id: is required                     |
        | a batch               | -32600 | must be one request                 |
        | a broken body         | -32700 | not valid JSON                      |
        | deep JSON             | -32700 | nested                              |
