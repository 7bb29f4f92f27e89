@s4.1
Feature: A chat-completions endpoint in front of a resource
  Programs that know OpenAI's protocol talk to any resource: with a base URL, an API key, and OpenAI's own client.

  Rule: A call gets the answer of the resource

    @grpc
    Scenario: A whole answer
      Given an endpoint whose resource answers "It is **noon**."
      When a program asks "How late is it?"
      Then the resource is asked "How late is it?"
      And the program gets "It is **noon**."

    @grpc
    Scenario: The asynchronous client
      Given an endpoint whose resource answers "It is noon."
      When a program asks "How late is it?" with the asynchronous client
      Then the program gets "It is noon."

    Scenario: What the answer took
      Given an endpoint whose resource answers "Noon." and takes 7 and 3 tokens
      When a program asks "How late is it?"
      Then the program is told of 10 tokens

    Scenario: Files come as links
      Given an endpoint whose resource answers "Here it is." with the file "plan.txt"
      When a program asks "The plan, please"
      Then the program gets a text that begins with "Here it is."
      And it ends with a link to "plan.txt"

    Scenario: Choices come as a list, and a reply picks one
      Given an endpoint whose resource offers "Small" and "Large"
      When a program asks "A shirt" in the conversation "c-1"
      Then the program gets a text that ends with "1. Small\n2. Large"
      When a program asks "2" in the conversation "c-1"
      Then the resource is asked "large" as a choice

    Scenario: A resource that fails is asked once
      Given an endpoint whose resource fails
      When a program asks "How late is it?"
      Then the program is told that it "failed"
      And the resource was asked once

  Rule: A streamed answer is shown as it grows

    @grpc
    Scenario: Piece by piece
      Given an endpoint whose resource writes piece by piece
      When a program asks "How late is it?" for a stream
      And the resource has written "It is"
      Then the program sees "It is" before the answer is done
      When the resource ends with "It is noon."
      Then the program has seen "It is noon."

    Scenario: A resource that says all at once
      Given an endpoint whose resource answers "It is noon."
      When a program asks "How late is it?" for a stream
      Then the program has seen "It is noon."

    Scenario: What was shown is not the beginning of the answer
      Given an endpoint whose resource writes piece by piece
      When a program asks "How late is it?" for a stream
      And the resource has written "Perhaps"
      Then the program sees "Perhaps" before the answer is done
      When the resource ends with "It is noon."
      Then the program has seen "Perhaps\n\n---\n\nIt is noon."

    Scenario: A file that is too large is told of before the answer grows
      Given an endpoint whose resource writes piece by piece
      When a program sends a file that is too large, for a stream
      And the resource has written "It is"
      Then the program sees "It is" after the notice about the file, before the answer is done
      When the resource ends with "It is noon."
      Then the program has seen the notice about the file, and "It is noon."

    Scenario: Tokens of a stream
      Given an endpoint whose resource answers "Noon." and takes 7 and 3 tokens
      When a program asks "How late is it?" for a stream with usage
      Then the program is told of 10 tokens

    Scenario: A resource that fails
      Given an endpoint whose resource fails
      When a program asks "How late is it?" for a stream
      Then the stream ends with an error

    Scenario: The instance is deleted while its answer is shown
      Given an endpoint whose resource writes piece by piece
      When a program asks "How late is it?" for a stream
      And the resource has written "It is"
      Then the program sees "It is" before the answer is done
      When ann deletes the instance
      Then the stream ends with an error

    @grpc
    Scenario: The program leaves, and comes back for the answer
      Given an endpoint whose resource writes piece by piece, and which takes 1 call at a time
      When a program asks "How late is it?" for a stream with an idempotency key
      And the resource has written "It is"
      And the program leaves once it has seen "It is"
      And the resource ends with "It is noon."
      Then the program gets "It is noon." with the same idempotency key

    @grpc
    Scenario: Too many calls at a time
      Given an endpoint whose resource does not answer yet, and which takes 1 call at a time
      When two programs ask at the same time
      Then one of them is told to come again later

  Rule: A conversation is what the program says it is

    Scenario Outline: The same conversation by <where>
      Given an endpoint whose resource answers "Yes."
      When a program asks "a" and "b" with the same <where>
      Then both messages are of one conversation

      Examples:
        | where               |
        | user                |
        | metadata.session_id |
        | header x-session-id |

    Scenario: Without one each call is a conversation of its own
      Given an endpoint whose resource answers "Yes."
      When a program asks "a" and "b"
      Then they are of two conversations

    Scenario: Earlier messages of the call go along
      Given an endpoint whose resource answers "Yes."
      When a program asks "And tomorrow?" after these messages
        | system    | Be brief.            |
        | user      | Will it rain today?  |
        | assistant | No.                  |
      Then the resource gets them as what was said before

    Scenario: Of very many messages the latest go along
      Given an endpoint whose resource answers "Yes."
      When a program asks "And now?" after 10000 messages
      Then the resource gets the 20 latest as what was said before

    Scenario: The same call again
      Given an endpoint whose resource answers "Yes."
      When a program asks "a" twice with the same idempotency key
      Then both calls get the same answer
      And the resource was asked once

  Rule: Files of a message are read

    Scenario: A picture in the call
      Given an endpoint whose resource answers "Nice."
      When a program asks "What is this?" with a picture as data
      Then the resource gets a file of the type "image/png"

    Scenario: A picture in the call, with its scheme in capital letters
      Given an endpoint whose resource answers "Nice."
      When a program asks "What is this?" with a picture at "DATA:image/png;base64,iVBORw0KGgo="
      Then the resource gets a file of the type "image/png"

    Scenario: A picture at an address that may not be called
      Given an endpoint whose resource answers "Nice."
      When a program asks "What is this?" with a picture at "http://169.254.169.254/latest"
      Then the resource gets no file

  Rule: What cannot be served is told in the protocol's own words

    @grpc
    Scenario Outline: A call with <what>
      Given an endpoint whose resource answers "Yes."
      When a program calls with <what>
      Then the call is "<outcome>", as the protocol says it, with the text "<text>"
      And nothing is stored

      Examples:
        | what                        | outcome   | text                                |
        | another key                 | not known | is not the apiKey of this instance  |
        | tools                       | invalid   | tools: are not supported            |
        | two answers wanted          | invalid   | n: must be 1                        |
        | an answer in JSON wanted    | invalid   | response_format: must be text       |
        | no message                  | invalid   | messages: must be a list            |
        | an assistant's last message | invalid   | messages: must end with a message   |
        | an empty message            | invalid   | must not be empty                   |
        | a file by its id            | invalid   | files by id are not supported       |
        | deep JSON                   | invalid   | nested                              |
        | a broken body               | invalid   | not valid JSON                      |
        | a path that is unknown      | not found | there is nothing at                 |
        | an unknown instance         | not found | there is no instance                |

    Scenario: The models
      Given an endpoint whose resource answers "Yes."
      When a program asks for the models
      Then it sees the model "clock" alone

    Scenario: A very long message
      Given an endpoint whose resource answers "Yes."
      When a program asks with a text of 900 KB
      Then the program gets "Yes."
