Feature: Tasks of A2A agents
  An agent that speaks A2A works on tasks. A task may take longer than a message waits for its answer, and may need something
  of the person first.

  Background:
    Given ann's bot stands before an A2A agent

  Rule: A result that takes longer comes when it is ready

    Scenario: A report that takes ten minutes
      When somebody writes "write the report"
      And the time for the message passes
      Then somebody reads "This takes longer. The answer comes here when it is ready."
      When the agent finishes the report
      Then somebody reads "The report is done." with the file "report.pdf"
      And the agent was asked once

    Scenario: Somebody writes while the agent works
      When somebody writes "write the report"
      And the time for the message passes
      Then somebody reads "This takes longer. The answer comes here when it is ready."
      When somebody writes "hello"
      Then somebody reads "You said hello."
      When the agent finishes the report
      Then somebody reads "The report is done." with the file "report.pdf"

    Scenario: The agent fails later
      When somebody writes "write the report"
      And the time for the message passes
      Then somebody reads "This takes longer. The answer comes here when it is ready."
      When the agent fails with "no paper"
      Then somebody reads "Sorry, I could not get an answer just now. Please try again in a moment."
      And the health of the bot tells "the task failed: no paper"

    Scenario: The agent is set up anew meanwhile
      When somebody writes "write the report"
      And the time for the message passes
      Then somebody reads "This takes longer. The answer comes here when it is ready."
      When ann changes the kind of the agent
      Then somebody reads "Sorry, I could not get an answer just now. Please try again in a moment."
      And the health of the bot tells "no A2A agent is behind agent::a2a_0 any more"

    Scenario: A task that takes more than a day
      When somebody writes "write the report"
      And the time for the message passes
      Then somebody reads "This takes longer. The answer comes here when it is ready."
      When a day passes
      Then somebody reads "Sorry, I could not get an answer just now. Please try again in a moment."
      And the health of the bot tells "over 24 hours"

  Rule: A question of the agent keeps the conversation at its task

    Scenario: The agent needs to know a town
      When somebody writes "book a table"
      Then somebody reads "In which town?"
      When somebody writes "Rome"
      Then somebody reads "Booked in Rome."
      And both messages belong to one task

    Scenario: The agent asks when it has worked for a while
      When somebody writes "book a table later"
      And the time for the message passes
      Then somebody reads "This takes longer. The answer comes here when it is ready."
      When the agent goes on
      Then somebody reads "In which town?"
      When somebody writes "Rome"
      Then somebody reads "Booked in Rome."
      And both messages belong to one task
