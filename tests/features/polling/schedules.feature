@s6 @grpc
Feature: What runs by the clock
  One list tells when each instance fires or is polled next, how the last time went, and lets its owner say "now".

  Rule: The list tells in words when an instance runs

    Scenario: A schedule
      Given ann's schedule for "0 9 * * 1-5" in Berlin
      When ann looks at what runs by the clock
      Then it runs "At 09:00 on Monday through Friday", by the clock of Berlin
      And its next five times are told, each at 9 in Berlin

    Scenario: A schedule that is switched off
      Given ann's schedule for "0 9 * * 1-5" in Berlin, switched off
      When ann looks at what runs by the clock
      Then it has no next time, and says that it is switched off

    Scenario: A mailbox whose server does not answer
      Given ann's mailbox on a server that does not answer, looked into every 5 minutes
      When ann looks at what runs by the clock
      Then it runs "Every 5 minutes, and when the platform announces news"
      And its last error and the number of failed runs are told

  Rule: "Now" runs it once more, whatever the plan

    Scenario Outline: A schedule that is <state>
      Given ann's schedule for "0 9 * * 1-5" in Berlin, <state>
      When ann has it run now
      Then it fires once, and its plan is as before

      Examples:
        | state        |
        | switched on  |
        | switched off |

    Scenario: A mailbox that was given up until it is changed
      Given ann's mailbox on a server that does not answer, looked into every 5 minutes
      And no run of it is planned any more
      When ann has it run now
      Then it is tried once more

  Rule: Everybody sees and runs what is theirs, admins all

    Scenario: Another user
      Given ann's schedule for "0 9 * * 1-5" in Berlin
      Then bob sees nothing that runs by the clock, and may not run it
      But an admin sees it

    Scenario: An instance that does not run by the clock
      Given ann's webhook bot
      Then ann sees nothing that runs by the clock
      And having it run now is a conflict

    Scenario: A long list comes in pages
      Given 5 schedules of ann
      Then she reads them 2 at a time, each once
