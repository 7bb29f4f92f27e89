Feature: Connecting a channel in the console
  Whoever has never seen Switchboard connects a first bot without reading the documentation.

  Scenario: The first bot, by keyboard alone
    Given ann has signed in and nothing is connected
    When she goes to the gallery from the overview and searches for "webhook"
    And she opens the form of "HTTP webhook" and saves it
    Then the page waits for the first message and shows the address to copy
    When a program sends a message to that address
    Then the page says by itself that messages arrive

  Scenario: What is wrong is said while one writes
    Given ann has signed in
    When she writes a schedule of two fields into the form of "cron"
    Then the field says that it must have 5 fields
    When she writes a schedule of five fields into it
    Then the field says nothing

  Scenario: A token that the platform refuses
    Given a chat server
    And ann has signed in
    When she fills in the form of the chat server with a wrong token, and checks it
    Then the page shows the words of the chat server and what to do
    When she corrects the token and checks it
    Then the page says that the credentials are accepted
    When she saves the form, by keyboard alone
    Then the channel is connected, and no page holds the token

  Scenario: A channel that works again after a check
    Given a chat server that has refused the bot of ann
    And ann sees the page of the bot, which needs attention
    When the bot is invited on the chat server
    And she checks the credentials
    Then the page says by itself that the bot is healthy
