@grpc
Feature: The state of all bots
  Whoever runs bots sees at once which of them work, what happened to messages, and what the installation lacks.

  Rule: One list tells the health of each bot and what to mend

    Scenario: Broken bots are told from those that work
      Given ann has a bot that works and one whose platform refuses answers
      Then ann sees the health of both, and which of them has to be mended
      And she can see the broken one alone
      And bob sees neither, and an admin sees both

    Scenario: What waits and what a platform forbids for a while is told
      Given ann has a bot whose platform asks to wait
      Then ann sees how long its oldest message waits and for how long nothing is sent

    Scenario: Hundreds of bots are looked at with a few questions to the database
      Given ann has 500 bots, of which the last one is broken
      Then she sees the broken one in one answer, with a few questions to the database
      And she sees all of them in pages

  Rule: Figures tell what happened to messages

    Scenario: Messages, answers and failures of the last hour and day
      Given ann has a bot that works and one whose platform refuses answers
      When somebody writes to both and it is counted
      Then ann sees 2 messages, 1 answer, 1 failure and the time to reply
      And the figures of one bot are told apart
      And bob sees none of it, and an admin sees all

  Rule: An admin sees what the doctor says of the running service

    Scenario: The findings of the doctor
      Then an admin sees what is well and what is missing, without any secret
      And ann is told that only an admin sees it
