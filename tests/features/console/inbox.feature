Feature: The inbox
  Who looks after a bot sees what people write to it, as it comes in, and answers in its place.

  Scenario: A message stands in the inbox of another window at once
    Given ann has a bot and looks at her inbox, in which nobody has written yet
    When ada writes "The pump runs dry"
    Then the inbox shows ada's conversation without being loaded again
    When ann opens it
    Then she reads "The pump runs dry" and the bot's answer to it

  Scenario: What is written while a page is being opened stands on it
    Given ann looks at her bot's conversation with ada
    And a colleague looks at it too
    When ada writes "Wait for me" after ann's page was made anew and before it listens
    Then she reads "Wait for me" without loading the page again

  @narrow
  Scenario: Ann takes a conversation over, answers and hands it back, by keyboard alone
    Given ann looks at her bot's conversation with ada
    When she takes it over
    Then the page says that she has it, and for how long
    When ada writes "Is anybody there?"
    Then she reads "Is anybody there?" without loading the page again
    When she answers "Yes, me" with a file and two choices
    Then ada gets the answer with the file and the choices
    And the conversation shows "Yes, me" and the file
    When she hands it back
    Then the page says that the bot answers

  Scenario: Two colleagues see each other's answers
    Given ann looks at her bot's conversation with ada
    And a colleague looks at it too
    When ann answers "I am on my way"
    Then the colleague reads "I am on my way" and that ann has the conversation
    When the colleague answers "Thank you, Ann"
    Then the colleague is told that ann has the conversation, and that nothing was sent
    When the colleague takes it over and answers "Thank you, Ann"
    Then ann reads "Thank you, Ann"

  Scenario: What happened between the lines
    Given ann's bot has failed at a message of ada's
    When ann looks at the conversation
    Then she reads why it failed
    When the bot works again and she has the message processed again
    Then she reads the bot's answer
    When she unfolds what happened to the answer
    Then she reads when the platform took it, and the id of the request
    And it stays unfolded when ada writes again

  Scenario: The focus stays where it is when something comes in
    Given ann's bot has failed at a message of ada's
    When ann looks at the conversation
    And she comes to "Process it again" by keyboard
    And ada writes "Is anybody there?"
    Then she reads "Is anybody there?" without loading the page again
    And the focus is on the first "Process it again"

  Scenario: Earlier messages are loaded on demand
    Given ada has written 15 messages to ann's bot
    When ann looks at the conversation
    Then the first message of ada is not there yet
    When she asks for earlier messages
    Then the first message of ada is there
    And it stays there when ada writes again

  Scenario: Erasing a conversation asks first
    Given ann looks at her bot's conversation with ada
    When she wants to erase it, and thinks better of it
    Then the conversation is still there
    When she wants to erase it, and says so again
    Then her inbox is empty
