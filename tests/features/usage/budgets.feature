Feature: Budgets
  A user, an instance or an agent may take so much in a month: tokens, or money. An answer of the model takes 13 tokens, which
  cost 0.000058 EUR.

  Background:
    Given ann's bot answers from a model with prices

  Rule: When a budget is used up, the agent is not asked

    @grpc
    Scenario Outline: A budget of <whose>
      Given <who> sets a budget of 20 tokens for <whose>
      When ada writes "hello"
      And ada writes "and now"
      Then the model was asked 2 times
      When ada writes "and again"
      Then ada reads "Sorry, I cannot answer any more this month: the budget for my answers is used up."
      And the model was asked 2 times
      And the timeline says "the monthly budget of <subject> is used up: 26 of 20 tokens"

      Examples:
        | who       | whose          | subject            |
        | ann       | her instance   | instance           |
        | the admin | the agent      | agent agent::small |
        | the admin | the user "ann" | user ann           |

    Scenario: A budget of money
      Given ann sets a budget of 0.0001 EUR for her instance
      When ada writes "hello"
      And ada writes "and now"
      And ada writes "and again"
      Then the model was asked 2 times
      And ada reads "Sorry, I cannot answer any more this month: the budget for my answers is used up."

    Scenario: A budget in another currency
      Given ann sets a budget of 0.0001 USD for her instance
      When ada writes "hello"
      And ada writes "and now"
      And ada writes "and again"
      Then the model was asked 3 times

    Scenario: What was spent before the budget was set counts
      When ada writes "hello"
      And ada writes "and now"
      Given ann sets a budget of 20 tokens for her instance
      When ada writes "and again"
      Then the model was asked 2 times

    Scenario: Another agent answers in its place
      Given the admin sets a budget of 20 tokens for the agent
      And ann's bot has a program to fall back on
      When ada writes "hello"
      And ada writes "and now"
      And ada writes "and again"
      Then the model was asked 2 times
      And ada reads "done"

    Scenario: An approval outlasts a budget that is used up
      Given ann's bot asks before it opens the valve
      When ada writes "open the valve"
      And ann sets a budget of 10 tokens for her instance
      And ada writes "yes"
      Then ada reads "Sorry, I cannot answer any more this month: the budget for my answers is used up."
      And the valve was opened 0 times
      When ann sets a budget of 1000 tokens for her instance
      And ann runs the failed message again
      Then the valve was opened 1 time
      And ada reads "The valve is open."

    Scenario: The budget is raised
      Given ann sets a budget of 10 tokens for her instance
      When ada writes "hello"
      And ada writes "and now"
      Then the model was asked 1 time
      When ann sets a budget of 1000 tokens for her instance
      And ada writes "and again"
      Then the model was asked 2 times

    Scenario: The budget is deleted
      Given ann sets a budget of 10 tokens for her instance
      When ada writes "hello"
      And ann deletes the budget
      And ada writes "and now"
      Then the model was asked 2 times

    Scenario: An agent that is asked by hand
      Given the admin sets a budget of 10 tokens for the agent
      When ada writes "hello"
      And zoe tries the agent
      Then she is told "the monthly budget of agent agent::small is used up"
      And the model was asked 1 time

  Rule: Programs hear of it at 80 and at 100 percent, once a month

    Scenario: Events
      Given somebody listens to events
      And ann sets a budget of 30 tokens for her instance
      When ada writes "hello"
      Then no event tells of the budget
      When ada writes "and now"
      Then an event tells ann of 80 percent
      When ada writes "and again"
      Then an event tells ann of 100 percent
      When ada writes "once more"
      Then no event tells of the budget

  Rule: Owners set budgets of what is theirs, admins all

    @grpc
    Scenario: A list
      Given ann sets a budget of 20 tokens for her instance
      And the admin sets a budget of 0.5 EUR for the agent
      When ada writes "hello"
      Then ann sees her budget, of which 13 tokens are spent, 65 percent
      And zoe sees no budget
      And the admin sees 2 budgets in pages of 1

    Scenario: A stored agent of one's own
      Given zoe has the agent "agent::hers"
      When zoe sets a budget of 20 tokens for her agent
      Then she is told nothing
      When ann sets a budget of 20 tokens for zoe's agent
      Then she is told "only an admin or the owner of a stored agent may set its budget"

    Scenario: The budget of an admin stays
      Given the admin sets a budget of 20 tokens for ann's instance
      When ann sets a budget of 1000 tokens for her instance
      And ada writes "hello"
      And ada writes "and now"
      And ada writes "and again"
      Then the model was asked 2 times
      When ann deletes the budget of the admin
      Then she is told "an admin has set this budget; ask an admin to change it"

    @grpc
    Scenario Outline: What cannot be set: <what>
      When <who> sets <what>
      Then she is told "<words>"

      Examples:
        | who | what                                                     | words                                                 |
        | zoe | a budget of 20 tokens for ann's instance                 | the instance belongs to another user                  |
        | zoe | a budget of 20 tokens for the user "ann"                 | only an admin may set the budget of a user            |
        | ann | a budget of 20 tokens for the agent                      | only an admin or the owner of a stored agent          |
        | ann | a budget of nothing for her instance                     | give either tokens, or cost with a currency           |
        | ann | a budget of 20 tokens for nobody                         | give exactly one of userId, instanceId and resourceId |
        | ann | a budget of 5 XXXX for her instance                      | currency                                              |
        | ann | a budget of -5 EUR for her instance                      | must be over 0                                        |

    Scenario: An instance is deleted
      Given ann sets a budget of 20 tokens for her instance
      When ann deletes her instance
      Then the budget is gone with the next cleaning
