Feature: Agents behind protocols that pause
  An agent of LangGraph or AG-UI may stop and ask a person something before it goes on. The question reaches the chat, and
  the next message is the answer. The agent goes on where it stopped.

  Rule: A tool that the agent wants to use is approved or rejected in the chat

    Scenario Outline: A tool of <protocol> is <decision>
      Given ann's agent of <protocol> wants to use the tool "open_valve" where somebody writes "open the valve"
      When somebody writes "open the valve"
      Then the answer holds "Let me see." and "open_valve" and "Please reply"
      When somebody writes "<reply>"
      Then the agent goes on with the tool <decision>
      And the agent was called twice

      Examples:
        | protocol  | reply | decision |
        | LangGraph | yes   | approved |
        | LangGraph | no    | rejected |
        | AG-UI     | yes   | approved |
        | AG-UI     | no    | rejected |

    Scenario Outline: Somebody writes something else to <protocol>
      Given ann's agent of <protocol> wants to use the tool "open_valve" where somebody writes "open the valve"
      When somebody writes "open the valve"
      And somebody writes "What for?"
      Then the tool is not used, and the agent reads "What for?"

      Examples:
        | protocol  |
        | LangGraph |
        | AG-UI     |

  Rule: A question of the agent is answered by the next message

    Scenario Outline: A choice of <protocol>
      Given ann's agent of <protocol> asks "Which size?" with "Small" and "Large" where somebody writes "a shirt"
      When somebody writes "a shirt"
      Then the answer holds "Which size?"
      And it offers "Small" and "Large"
      When somebody writes "Large"
      Then the agent goes on with "Large"

      Examples:
        | protocol  |
        | LangGraph |
        | AG-UI     |

  Rule: A conversation is one for the agent

    Scenario Outline: The second message to <protocol>
      Given ann's agent of <protocol> repeats what it reads
      When somebody writes "one"
      And somebody writes "two"
      Then both messages came in one thread

      Examples:
        | protocol  |
        | LangGraph |
        | AG-UI     |

  Rule: An agent can be tested without an instance

    Scenario Outline: A test of an agent of <protocol>
      Given ann's agent of <protocol> repeats what it reads
      When ann tests the agent with "Hello"
      Then the test's answer begins with "Go on with", and shows what was sent to "<place>"

      Examples:
        | protocol  | place                   |
        | LangGraph | /graph/threads/         |
        | AG-UI     | /screen                 |
