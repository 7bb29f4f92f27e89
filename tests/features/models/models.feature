Feature: Models as resources
  A rule puts a model behind a resource id, in one of the two protocols that servers of models speak. The model may use
  the tools of two MCP servers: "shop", where a person decides before the bell is rung, and "gone", which is away.

  Rule: A model answers in a chat

    Scenario Outline: An answer over <protocol>
      Given ada writes to an agent on a model that speaks <protocol>
      And the model answers "It is noon."
      When ada writes "How late is it?"
      Then ada reads "It is noon."
      And the model was given "How late is it?"

      Examples:
        | protocol         |
        | chat completions |
        | responses        |

    Scenario Outline: A conversation over <protocol>
      Given ada writes to an agent on a model that speaks <protocol>
      And the model answers "Hello Ada." and then "You are Ada."
      When ada writes "I am Ada."
      And ada reads "Hello Ada."
      And ada writes "Who am I?"
      Then ada reads "You are Ada."
      And the model was given "I am Ada.", "Hello Ada." and "Who am I?"

      Examples:
        | protocol         |
        | chat completions |
        | responses        |

    Scenario: The server refuses
      Given ada writes to an agent on a model that speaks responses
      And the server of the model refuses with "model_not_found" and "There is no such model."
      When ada writes "How late is it?"
      Then ada reads that no answer could be got
      And the health of the channel says "model_not_found: There is no such model."

  Rule: Tools of MCP servers need the decision of a person, unless the rule says otherwise

    Scenario Outline: Approval over <protocol>
      Given ada writes to an agent on a model that speaks <protocol>
      And the model wants to ring the bell 3 times, and then answers "It rang."
      When ada writes "Ring the bell!"
      Then ada is asked about the tool "shop__ring"
      And the bell has not rung
      When ada presses "Approve"
      Then ada reads "It rang."
      And the bell rang once, 3 times in a row
      And the model was given what the tool answered

      Examples:
        | protocol         |
        | chat completions |
        | responses        |

    Scenario: Nothing in memory is needed for an approval
      Given ada writes to an agent on a model that speaks chat completions
      And the model wants to ring the bell 3 times, and then answers "It rang."
      When ada writes "Ring the bell!"
      Then ada is asked about the tool "shop__ring"
      When the rules are read anew
      And ada presses "Approve"
      Then ada reads "It rang."
      And the bell rang once, 3 times in a row

    Scenario: Rejection
      Given ada writes to an agent on a model that speaks chat completions
      And the model wants to ring the bell 3 times, and then answers "As you wish."
      When ada writes "Ring the bell!"
      Then ada is asked about the tool "shop__ring"
      When ada presses "Reject"
      Then ada reads "As you wish."
      And the bell has not rung

    Scenario: Approval for the session
      Given ada writes to an agent on a model that speaks chat completions
      And the model wants to ring the bell 3 times, and then answers "It rang."
      When ada writes "Ring the bell!"
      Then ada is asked about the tool "shop__ring"
      When ada presses "Approve session"
      Then ada reads "It rang."
      When the model wants to ring the bell 2 times, and then answers "It rang again."
      And ada writes "Ring it again!"
      Then ada reads "It rang again."
      And the bell rang twice, without another question

    Scenario: A tool that needs no decision
      Given ada writes to an agent on a model that speaks chat completions
      And the model wants to measure, and then answers "5 bar."
      When ada writes "How much?"
      Then ada reads "5 bar."
      And ada was not asked

  Rule: A server that is away costs its tools, not the answer

    Scenario: Its tools are not offered
      Given ada writes to an agent on a model that speaks chat completions
      And the model answers "It is noon."
      When ada writes "How late is it?"
      Then ada reads "It is noon."
      And the model was offered tools of "shop", and none of "gone"

  Rule: A trial tells the tokens of the model

    Scenario: The tokens of all replies
      Given ada writes to an agent on a model that speaks responses
      And the model wants to measure, and then answers "5 bar."
      When ann tries the agent with "How much?"
      Then the trial tells "5 bar.", 18 tokens read and 8 written
