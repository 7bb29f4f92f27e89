Feature: Usage of agents
  Each run of an agent counts its tokens, seconds and cost, by day, instance, agent and user. A call of the model reads 9
  tokens and writes 4. A million tokens read cost 2 EUR, and a million written 10 EUR.

  Background:
    Given ann's bot answers from a model with prices

  Rule: What the model server tells is summed up

    @grpc
    Scenario: An answer
      When ada writes "hello"
      Then ann's usage is 1 run, 9 tokens read, 4 written and 0.000058 EUR

    Scenario: Several answers
      When ada writes "hello"
      And bob writes "good day"
      And ada writes "and more"
      Then ann's usage is 3 runs, 27 tokens read, 12 written and 0.000174 EUR

    Scenario: A streamed answer
      Given the model streams
      When ada writes "hello"
      Then ann's usage is 1 run, 9 tokens read, 4 written and 0.000058 EUR

    Scenario: The calls of one run are summed up
      Given the model rings a bell before it answers
      When ada writes "ring"
      Then ann's usage is 1 run, 18 tokens read, 8 written and 0.000116 EUR

    Scenario: A try that failed after tokens were spent
      Given the model rings a bell, fails, and answers when it is asked again
      When ada writes "ring"
      Then ada reads "Sorry, I could not get an answer just now. Please try again in a moment."
      And ann's usage is 1 run, 9 tokens read, 4 written and 0.000058 EUR

    Scenario: A stream that breaks off
      Given the model streams, and breaks off once
      When ada writes "hello"
      Then ann's usage is 1 run, 9 tokens read, 4 written and 0.000058 EUR

    Scenario: An answer without text
      Given the model writes nothing
      When ada writes "hello"
      Then ann's usage is 1 run, 9 tokens read, 4 written and 0.000058 EUR

    Scenario: An answer that ends before it has any text
      Given the model thinks until its tokens are used up
      When ada writes "hello"
      Then ada reads "Sorry, I could not get an answer just now. Please try again in a moment."
      And ann's usage is 1 run, 9 tokens read, 4 written and 0.000058 EUR

    Scenario: A resource that tells its usage itself
      Given ann's bot answers from a program that takes 100 tokens read and 20 written
      When ada writes "hello"
      Then ann's usage is 1 run, 100 tokens read and 20 written, without a price

    @grpc
    Scenario: Agents that are asked by hand
      When zoe tries the agent with "hello"
      Then zoe's own line has 1 run, 9 tokens read, 4 written and 0.000058 EUR
      And ann has no usage

    Scenario: Questions to a knowledge base
      Given a model answers from zoe's knowledge base
      When zoe asks her knowledge base "where is the anchor?"
      Then zoe's own line has 1 run, 9 tokens read, 4 written and 0.000058 EUR

  Rule: Owners see the usage of their instances

    @grpc
    Scenario: By instance, agent and user
      Given zoe's bot answers from a program that takes 100 tokens read and 20 written
      When ada writes "hello" to both bots
      Then ann sees one line, with her instance, "agent::small" and the user "ann"
      And zoe sees one line, with her instance, "agent::program" and the user "zoe"
      And the admin sees both lines

    Scenario: The usage of somebody else's instance
      When zoe asks for the usage of ann's instance
      Then she is told "the instance belongs to another user"

    Scenario: Days
      When ada writes "hello"
      And three days pass
      And ada writes "hello again"
      Then ann sees two days, three days apart
      And of the first day alone ann sees 1 run

    Scenario: Pages
      Given ada writes on 5 days
      Then ann sees the 5 days in pages of 2

    @grpc
    Scenario Outline: What cannot be understood: <wrong>
      When ann asks for her usage <wrong>
      Then she is told "<words>"

      Examples:
        | wrong                | words                                                                     |
        | by the weather       | by: weather: unknown; there are day, instance, agent, user                 |
        | from yesterday on    | from: must be a day, such as 2026-03-31                                    |

    Scenario Outline: A file for a spreadsheet, by <way>
      When ada writes "hello"
      Then ann's file by <way> has the line of "agent::small" with 9 tokens read

      Examples:
        | way           |
        | its format    |
        | what is taken |

  Rule: Usage stays

    Scenario: A conversation is erased
      When ada writes "hello"
      And the conversation is erased
      Then ann's usage is 1 run, 9 tokens read, 4 written and 0.000058 EUR

    Scenario: An instance is deleted
      When ada writes "hello"
      And ann deletes her instance
      Then the admin still sees 9 tokens read
