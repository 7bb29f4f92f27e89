@grpc
Feature: Dead letters of all bots
  Whoever runs bots sees in one list what was given up in either direction, and replays or drops it.

  Rule: One list holds what was given up, whichever bot it belongs to

    Scenario: A failed answer of one bot and a failed question of another stand in one list
      Given ann has a bot whose platform refuses answers, and one whose resource fails
      When somebody writes to each
      Then ann sees both messages with their reasons, the latest first
      And she can see those of one bot alone, or of one direction alone
      And the list comes in pages

    Scenario: The payload of an answer that was given up is shown
      Given ann has a bot whose platform refuses answers
      When somebody writes to each
      Then ann sees what was to be sent

    Scenario: A user sees their own dead letters, an admin those of all
      Given ann has a bot whose platform refuses answers
      When somebody writes to each
      Then bob sees no dead letters, and an admin sees that of ann
      And bob can neither look at it, nor replay it, nor drop it

  Rule: What was given up is replayed or dropped, one or many at once

    Scenario: Many dead letters are replayed at once
      Given ann has a bot whose platform refuses answers, and one whose resource fails
      And somebody has written to each
      When platform and resource work again and ann replays all dead letters
      Then each was replayed and no dead letters are left
      And replaying one of them once more is refused, and the reason says why

    Scenario: Many dead letters are dropped at once
      Given ann has a bot whose platform refuses answers, and one whose resource fails
      And somebody has written to each
      When ann drops all dead letters and one that does not exist
      Then only the one that does not exist is refused
      And no dead letters are left, and none can be replayed

    Scenario: A choice of none, of too many or of nonsense is refused
      Given ann has a bot whose platform refuses answers
      Then replaying nothing, 201 messages or nonsense names what is wrong
