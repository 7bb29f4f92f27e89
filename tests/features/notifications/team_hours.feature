Feature: Hours of teams
  Outside of its hours a team answers by a text, and the conversation waits for it.

  Background:
    Given a bot of ann whose resource asks for a person with "One moment"
    And the team Support of bob may answer on the bot
    And Support works from 09:00 to 17:00 and answers "We are back at nine." else

  Scenario: Nobody is there
    Given it is 18:30 for the team
    When ada writes "help"
    Then ada has got "One moment" and "We are back at nine."
    And the conversation waits until the team is there
    And bob is notified: "Somebody is wanted in a conversation on bot-messenger."

  Scenario: The text comes once
    Given it is 18:30 for the team
    When ada writes "help"
    And the resource has the conversation again
    And ada writes "help"
    Then ada has got the text of the team once

  Scenario: Somebody is there
    Given it is 10:30 for the team
    When ada writes "help"
    Then ada has got "One moment" alone

  Scenario: Another team is there
    Given the team Night of carl may answer on the bot
    And Night works from 17:00 to 09:00 and answers "We sleep." else
    And it is 18:30 for the team
    When ada writes "help"
    Then ada has got "One moment" alone

  Scenario: The team that is responsible is away
    Given the team Night of carl may answer on the bot
    And Night works from 17:00 to 09:00 and answers "We sleep." else
    And the bot assigns to the team Support
    And it is 18:30 for the team
    When ada writes "help"
    Then ada has got "One moment" and "We are back at nine."

  Scenario: Teams without hours are always there
    Given the hours of Support are taken away
    And it is 18:30 for the team
    When ada writes "help"
    Then ada has got "One moment" alone

  @grpc
  Scenario: Whoever leads a team sets its hours
    Given bob leads Support
    Then bob can set hours and text of Support
    And hours that are none are refused
