Feature: Who is served, and who is known
  People write to a WhatsApp number. Some of them have verified who they are.

  Rule: With identifyUsers the resource is told which user writes

    Scenario Outline: Known by <identity>
      Given a number that identifies its users
      And ann has verified <identity>
      When 441632960001, also called GB.A1b2C3, writes "hello"
      Then the resource is told that ann writes
      And 441632960001 gets the answer

      Examples: every identity that the message proves counts
        | identity                         |
        | phone +44 1632 960001            |
        | business-messaging 441632960001  |
        | business-messaging GB.A1b2C3     |

    Scenario: A stranger is served all the same
      Given a number that identifies its users
      And ann has verified phone +44 1632 960009
      When 441632960001 writes "hello"
      Then the resource is told that somebody unknown writes
      And 441632960001 gets the answer

    Scenario: An identity that has moved to another user
      Given a number that identifies its users
      And bob has verified phone +44 1632 960001
      And ann has verified phone +44 1632 960001
      When 441632960001 writes "hello"
      Then the resource is told that ann writes

    Scenario: Without it nobody is looked up
      Given a number that has only the settings it needs
      And ann has verified phone +44 1632 960001
      When 441632960001 writes "hello"
      Then the resource is told that somebody unknown writes

  Rule: In the mode "open", the default, anybody is served

    Scenario Outline: A number that <policy>
      Given a number that <policy>
      When 441632960001 writes "hello"
      Then 441632960001 gets the answer

      Examples:
        | policy                         |
        | has only the settings it needs |
        | serves everybody               |

    Scenario: Another mode is refused
      When ann makes a number with the access mode "friends"
      Then it is refused as "invalid", naming "accessMode"

  Rule: In the mode "allowlist" only verified users are served

    Scenario: A verified user
      Given a number that serves verified users only
      And ann has verified phone +44 1632 960001
      When 441632960001 writes "hello"
      Then the resource is told that ann writes
      And 441632960001 gets the answer

    Scenario: Somebody else gets a notice with the address where to verify
      Given a number that serves verified users only
      When 441632960001 writes "hello"
      Then 441632960001 gets 1 notice that names the address where to verify
      And the resource is not asked

    Scenario: Who has verified is served from the next message on
      Given a number that serves verified users only
      When 441632960001 writes "hello"
      And ann verifies phone +44 1632 960001
      And 441632960001 writes "hello again"
      Then the resource is told that ann writes
      And 441632960001 gets 1 notice that names the address where to verify

    Scenario: Who is no longer verified is no longer served
      Given a number that serves verified users only
      And ann has verified phone +44 1632 960001
      When ann removes phone +44 1632 960001
      And 441632960001 writes "hello"
      Then the resource is not asked

  Rule: The notice comes at most once in 24 hours

    Scenario: Writing again and again
      Given a number that serves verified users only
      When 441632960001 writes "hello"
      And 441632960001 writes "hello?"
      And 23 hours and 59 minutes pass
      And 441632960001 writes "is anybody there?"
      Then 441632960001 gets 1 notice that names the address where to verify

    Scenario: A day later
      Given a number that serves verified users only
      When 441632960001 writes "hello"
      And 24 hours and 0 minutes pass
      And 441632960001 writes "hello again"
      Then 441632960001 gets 2 notices that name the address where to verify

    Scenario: Each sender gets one of its own
      Given a number that serves verified users only
      When 441632960001 writes "hello"
      And 441632960002 writes "hello"
      Then 441632960001 gets 1 notice that names the address where to verify
      And 441632960002 gets 1 notice that names the address where to verify

    Scenario: Each instance gives one of its own
      Given a number that serves verified users only
      When 441632960001 writes "hello"
      And 441632960001 writes "hello" to another number with the same settings
      Then 441632960001 gets 2 notices that name the address where to verify
