Feature: Agents that users set up themselves
  An agent is stored by REST or gRPC, without a file of the operator. Instances are bound to it by its resource id.

  @grpc
  Scenario: An agent answers the messages of an instance
    Given ann has the agent "Support" that is called with the secret "s3cret-token"
    And ann's instance is bound to "agent::support"
    When somebody writes "How late is it?"
    Then the agent was asked "How late is it?" with the secret "s3cret-token"
    And the answer is "Noted: How late is it?"

  @grpc
  Scenario: A change counts for the next message
    Given ann has the agent "Support" that is called with the secret "s3cret-token"
    And ann's instance is bound to "agent::support"
    When ann gives the agent the secret "another-token"
    And somebody writes "Hello"
    Then the agent was asked "Hello" with the secret "another-token"

  @grpc
  Scenario: Nothing shows a secret again
    Given ann has the agent "Support" that is called with the secret "s3cret-token"
    When ann looks at the agent, the list of agents and the rules
    And ann tests the agent with "Hello"
    Then no answer shows "s3cret-token"
    And the database does not hold "s3cret-token"
    And the agent is said to have a secret

  Scenario: A test shows what was sent and what came back
    Given ann has the agent "Support" that is called with the secret "s3cret-token"
    When ann tests the agent with "Hello"
    Then the test's answer is "Noted: Hello"
    And the test shows a POST with the text "Hello" that was answered
    And the test hides the header "Authorization"

  Scenario: A test of an agent that fails tells why
    Given ann has the agent "Support" that is called with the secret "s3cret-token"
    And the agent's server refuses everything
    When ann tests the agent with "Hello"
    Then the test's error names "403"
    And the test shows a POST with the text "Hello" that was refused

  Scenario Outline: An agent whose server repeats the request in its <where>
    Given ann has the agent "Support" that is called with the secret "s3cret-token"
    And ann's instance is bound to "agent::support"
    And the server repeats the request in its <where>
    When somebody writes "Hello"
    Then neither the sender nor the log learns "s3cret-token"
    And the database does not hold "s3cret-token"

    Examples:
      | where   |
      | answers |
      | errors  |

  Scenario: An id is made of the name where none is given
    Given ann has the agent "Künstler & Söhne"
    And ann has the agent "Support"
    And ann has the agent "Support"
    Then ann's agents are "agent::k-nstler-s-hne", "agent::support" and "agent::support-2"

  Rule: Only those with whom it is shared use an agent

    @grpc
    Scenario Outline: What bob may do with ann's agent
      Given ann has the agent "Support"
      And ann gives bob level <level> on the agent
      When bob tries to <action> the agent
      Then the request is "<outcome>"

      Examples:
        | level | action   | outcome   |
        | 0     | see      | forbidden |
        | 0     | test     | forbidden |
        | 0     | bind     | invalid   |
        | 0     | change   | forbidden |
        | 0     | share    | forbidden |
        | 0     | delete   | forbidden |
        | 1     | see      | done      |
        | 1     | test     | done      |
        | 1     | bind     | created   |
        | 1     | change   | forbidden |
        | 2     | change   | done      |
        | 2     | share    | forbidden |
        | 2     | delete   | forbidden |
        | 2     | trust    | forbidden |
        | 3     | share    | done      |
        | 3     | trust    | forbidden |
        | 3     | delete   | done      |

    Scenario: With READ alone the settings are not shown
      Given ann has the agent "Support"
      And ann gives bob level 1 on the agent
      When bob tries to see the agent
      Then no settings are shown
      When bob tries to test the agent
      Then no calls are shown

    Scenario: Nobody finds the agents of others in a list
      Given ann has the agent "Support"
      Then bob's agents are none
      And the admin's agents are "agent::support"

    Scenario: Whoever loses the permission gets no more answers from the agent
      Given ann has the agent "Support"
      And ann gives bob level 1 on the agent
      And bob's instance is bound to "agent::support"
      When ann gives bob level 0 on the agent
      And somebody writes "Hello"
      Then the agent was not asked
      And the answer is "No resource is connected to agent::support_0, so nobody can answer."

    Scenario: An agent cannot take the messages of instances that are bound to its id already
      Given bob's instance is bound to "agent::support"
      When ann sets up the agent "Support" as "agent::support"
      Then the request is "conflict"

    Scenario: Nor those of instances whose routes lead to its id
      Given bob's instance has a route to "agent::support"
      When ann sets up the agent "Support" as "agent::support"
      Then the request is "conflict"

    Scenario: A route cannot lead to an agent that is not shared
      Given ann has the agent "Support"
      When bob binds an instance with a route to "agent::support"
      Then the request is "invalid"
      And the error names "routes[0].to"

    Scenario: An admin may, and the owners of the instances can use it
      Given bob's instance is bound to "agent::support"
      When the admin sets up the agent "Support" as "agent::support"
      And somebody writes "Hello"
      Then the answer is "Noted: Hello"

    Scenario: A secret is not sent to another server
      Given ann has the agent "Support" that is called with the secret "s3cret-token"
      And ann gives bob level 2 on the agent
      When bob moves the agent to another server
      Then the request is "invalid"
      And the error names "secret"

  Rule: Rules of the operator's file come first

    Scenario: An id that a rule takes is refused
      When ann sets up the agent "Weather" as "agent::weather"
      Then the request is "conflict"
      And the error names "line 2 of RESOURCES_FILE"

    Scenario: Both stand in one list
      Given ann has the agent "Support"
      When the admin looks at the rules
      Then the list names "agent::weather*", "agent::support", "agent::echo" and "agent::kb-*"

  Rule: Addresses obey the outbound policy unless an admin trusts the agent

    Scenario: A private address
      Given ann has the agent "Inside" at a private address
      When ann tests the agent with "Hello"
      Then the test's error names "policy"
      And the test reached no server

    Scenario Outline: Trust ends when somebody who is no admin changes the address
      Given ann has the agent "Inside" at a private address
      And the admin trusts the agent
      When ann moves the agent to another <place>
      Then the agent is not trusted

      Examples:
        | place                   |
        | server                  |
        | path on the same server |

    Scenario: Changes at the same time lose nothing
      Given ann has the agent "Support"
      When ann changes its name, secret, prices and id at the same time
      Then the agent has all of it

    Scenario: A gRPC target needs trust
      Given ann has the agent "Inside" behind a gRPC target
      Then the agent's fault names "trusted"

  Rule: A policy of the agent says for which tools somebody decides

    Scenario: A tool that needs no approval of its own
      Given ann has the agent "Helper" of a model that refunds, with an approval for "refund*"
      And ann's instance is bound to "agent::helper"
      When somebody writes "Give me my money back"
      Then the answer asks for "refund_order"
      When somebody writes "yes"
      Then the tool was used once

    Scenario: A tool about which a user decides
      Given ann has the agent "Helper" of a model that refunds, and bob decides about "refund*"
      And ann's instance is bound to "agent::helper"
      When somebody writes "Give me my money back"
      Then the answer says that "refund_order" needs an approval
      When somebody writes "yes"
      Then the tool was not used
      When bob approves it
      Then the tool was used once

  Rule: A test tells what the answer cost

    @grpc
    Scenario: By the prices of the agent
      Given ann has the agent "Helper" of a model, at 2 EUR a million tokens read and 10 written
      When ann tests the agent with "Hello"
      Then the test cost 0.0012 EUR

  Rule: Faults name the field

    Scenario Outline: A setting that is wrong
      When ann sets up an agent with <wrong>
      Then the request is "invalid"
      And the error names "<fault>"

      Examples:
        | wrong                               | fault                                                  |
        | no name                             | name: is required                                      |
        | no kind                             | kind:                                                  |
        | an unknown kind                     | kind: must be one of http, grpc, chat-completions      |
        | a built-in as its kind              | kind: must not be builtin                              |
        | no address                          | settings.url: is missing                               |
        | an address of FTP                   | settings.url: must be an address that begins with http |
        | an address with a port beyond 65535 | settings.url: must be an address                       |
        | an address that climbs              | settings.url: must be an address without the segments  |
        | the name of a variable              | settings: must hold no secret                          |
        | a pattern of ids                    | settings.match: is no setting                          |
        | an unknown setting                  | settings.hat: is not known here; known are preset,     |
        | a secret beyond ASCII               | secret: must hold printable                            |
        | a file of the server                | settings.caFile: is a file                             |
        | a number in words                   | settings.historyTokens: must                           |
        | a base of others                    | knowledge: names base 4711                             |
        | a tool without address              | tools[0].url: is missing                               |
        | a price below zero                  | prices.input: must be from 0                           |
        | an approver who does not exist      | approvalPolicy[0].by: there is no team:3               |
        | an id that is no slug               | resourceId: must be agent::                            |
        | the id of a built-in                | resourceId: names a built-in                           |

  Rule: Nothing is bound to what is not there

    @grpc
    Scenario: An agent that instances are bound to is not deleted
      Given ann has the agent "Support"
      And ann's instance is bound to "agent::support"
      When ann tries to delete the agent
      Then the request is "conflict"
      And the error names "bind them to another resource first"

    Scenario: A shared agent answers from the bases of its owner
      Given ann has the base "Handbook" with the text "The pump runs at 40 bar."
      And ann has the agent "Helper" of a model that searches the base
      And ann gives bob level 1 on the agent
      And bob's instance is bound to "agent::helper"
      When somebody writes "How many bar has the pump?"
      Then the model got the passage "The pump runs at 40 bar."
