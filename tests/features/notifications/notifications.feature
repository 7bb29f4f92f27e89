Feature: Notifications
  Whoever has to act is told of it: in the console at once, and by mail or message where they want that.

  Background:
    Given a bot of ann whose resource asks for a person with "One moment"

  @grpc
  Scenario: Somebody is wanted
    When ada writes "help"
    Then ann is notified: "Somebody is wanted in a conversation on bot-messenger."
    And 1 notification of ann is unread
    When ann reads her notifications
    Then no notification of ann is unread
    And ann sees 1 notification

  Scenario: All who may answer are told, and nobody else
    Given bob may answer on the bot
    And carl may see the bot
    And dora has nothing to do with it
    When ada writes "help"
    Then bob is notified: "Somebody is wanted in a conversation on bot-messenger."
    And carl and dora are not notified

  Scenario: A team may answer
    Given the team Support of bob and dora may answer on the bot
    When ada writes "help"
    Then bob is notified: "Somebody is wanted in a conversation on bot-messenger."
    And dora is notified: "Somebody is wanted in a conversation on bot-messenger."

  Scenario: Those who are responsible are told alone
    Given bob may answer on the bot
    And the team Support of dora may answer on the bot
    And the bot assigns to the team Support
    When ada writes "help"
    Then dora is notified: "Somebody is wanted in a conversation on bot-messenger."
    And dora sees 1 notification
    And ann and bob are not notified

  Scenario: Somebody who is suspended is told nothing
    Given bob may answer on the bot
    And bob is suspended
    When ada writes "help"
    Then ann is notified: "Somebody is wanted in a conversation on bot-messenger."
    And bob has no notification

  Scenario: The same is not told again within an hour
    When ada writes "help"
    Then ann is notified: "Somebody is wanted in a conversation on bot-messenger."
    When the resource has the conversation again
    And ada writes "help"
    Then ann sees 1 notification
    When an hour passes
    And the resource has the conversation again
    And ada writes "help"
    Then ann sees 2 notifications

  Scenario: Two conversations are two things
    When ada writes "help"
    And bert writes "help"
    Then ann sees 2 notifications

  Scenario: Nobody is told of what they took over themselves
    Given bob may answer on the bot
    When ada writes "help"
    Then bob is notified: "Somebody is wanted in a conversation on bot-messenger."
    When an hour passes
    And the resource has the conversation again
    And bob takes the conversation over
    Then bob sees 1 notification

  Scenario: An instance does not work, and works again
    Given bob may answer on the bot
    And carl may manage the bot
    When answers cannot be sent any more
    Then carl is notified: "bot-messenger does not work: sending fails."
    And ann is notified: "bot-messenger does not work: sending fails."
    And bob is not notified
    When answers can be sent again
    Then ann is notified: "bot-messenger works again."

  Scenario: Flapping is told once an hour
    When answers cannot be sent any more
    And answers can be sent again
    And answers cannot be sent any more
    And answers can be sent again
    Then ann is notified: "bot-messenger works again."
    And ann sees 2 notifications

  Scenario: A budget is reached
    Given ann has a budget that is spent by 80 percent
    Then ann is notified: "80 % of the budget of ann for this month are spent."
    And admin is notified: "80 % of the budget of ann for this month are spent."

  @grpc
  Scenario: A conversation is assigned
    Given bob may answer on the bot
    And ada has written before
    When ann assigns ada's conversation to bob
    Then bob is notified: "ann assigned a conversation on bot-messenger to you."
    When ann assigns ada's conversation to herself
    Then ann sees no notifications

  Scenario: A conversation is assigned to a team
    Given the team Support of bob and dora may answer on the bot
    And ada has written before
    When bob assigns ada's conversation to Support
    Then dora is notified: "bob assigned a conversation on bot-messenger to the team Support."
    And bob sees no notifications

  Scenario: A resource assigns a conversation
    Given the team Support of bob may answer on the bot
    And the bot assigns to the team Support, and asks for nobody
    When ada writes "help"
    Then bob is notified: "Somebody assigned a conversation on bot-messenger to the team Support."

  @grpc
  Scenario: A note mentions somebody
    Given bob may answer on the bot
    And carl has nothing to do with it
    And ada has written before
    When ann notes "@bob @carl @ann please look"
    Then bob is notified: "ann mentioned you in a note on bot-messenger."
    And the notification names the note
    And ann and carl are not notified
    When ann notes "@bob again"
    Then bob sees 2 notifications

  Scenario: The event stream tells of it
    Given somebody follows the events
    When ada writes "help"
    Then an event tells ann alone that she was notified

  Scenario: A permission that ends takes notifications away
    Given bob may answer on the bot
    When ada writes "help"
    Then bob is notified: "Somebody is wanted in a conversation on bot-messenger."
    When bob loses the permission
    Then bob sees no notifications
    And no notification of bob is unread

  Scenario: Notifications go with an erased conversation
    When ada writes "help"
    Then ann is notified: "Somebody is wanted in a conversation on bot-messenger."
    When ann erases the conversation
    Then nothing of it is left

  Scenario: Long lists come page by page
    When ada, bert and 5 others write "help"
    Then ann sees 7 notifications, 3 on each page
