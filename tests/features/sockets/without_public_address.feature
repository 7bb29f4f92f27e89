Feature: Without a public address
  A service behind a router, which no platform can call, fetches messages or keeps a connection.

  Rule: Telegram's updates are fetched where it calls no webhook

    Scenario: A bot behind a router answers
      Given a service behind a router
      When Ann connects her Telegram bot
      Then she is told that no webhook is registered, that nothing went wrong, and that updates are fetched
      And it becomes one of her live connections
      When Bob writes "Hello" to it
      Then Bob reads "Hello"
      And its health says that updates are fetched, and that all is well

    Scenario: A webhook that was set before is removed
      Given a service behind a router
      And a Telegram bot with a webhook elsewhere
      When Ann connects her Telegram bot
      And Bob writes "Hello" to it
      Then Bob reads "Hello"

    Scenario: Polling is asked for although there is a public address
      Given a service with a public address
      When Ann connects her Telegram bot by polling
      And Bob writes "Hello" to it
      Then Bob reads "Hello"
      And Telegram knows no webhook

    Scenario: Back to the webhook
      Given a service with a public address
      And Ann's Telegram bot that is polled
      When Ann takes back that it is to be polled
      Then Telegram calls the webhook
      And it ends to be one of her live connections

    Scenario: The address becomes one that Telegram calls
      Given a service behind a router
      And Ann's Telegram bot, whose webhook Telegram refused
      When Telegram takes the address after all
      And the regular check of webhooks comes
      Then Telegram calls the webhook at that address
      And it ends to be one of her live connections

    Scenario: The update that comes both ways is answered once
      Given a service with a public address
      And Ann's Telegram bot that is polled
      When Telegram delivers "Hello" to the webhook and to the poll
      And Bob writes "Anything else?" to it
      Then Bob reads "Hello" and "Anything else?", each once

  Rule: Slack is connected to with a token of the app

    Scenario: Slack in Socket Mode
      Given a service behind a router, and a Slack app in Socket Mode
      When Ann connects it
      Then it becomes one of her live connections
      When Bob writes "Hello" to it
      Then Bob reads "Hello"
      And Slack was told that the message arrived
      And its health says "Events come over Socket Mode", and that all is well

    Scenario: Slack asks for a new connection
      Given a service behind a router, and a Slack app in Socket Mode
      And Ann has connected it
      When Slack announces that it will close the connection
      Then there is another connection before that
      When Bob writes "Hello" to it
      Then Bob reads "Hello"

    Scenario: The token of the app is taken back
      Given a service behind a router, and a Slack app in Socket Mode
      And Ann has connected it
      When Ann removes the token of the app
      Then it ends to be one of her live connections

  Rule: Mattermost is connected to with the bot's token

    Scenario: Mattermost over its WebSocket
      Given a service behind a router, and a Mattermost server
      When Ann connects it
      Then it becomes one of her live connections
      When Bob writes "Hello" to it
      Then Bob reads "Hello"
      When Bob mentions it with "and here?" in a private channel
      Then Bob reads "and here?"
      And its health says "Posts come over a WebSocket", and that all is well

    Scenario: What was posted while the connection was down
      Given a service behind a router, and a Mattermost server
      And Ann has connected it
      When the connection breaks while Bob writes "Anybody?"
      Then Bob reads "Anybody?"

    Scenario Outline: A post of a thread that comes both ways, <first> first
      Given a service with a public address, and a Mattermost server
      And Ann has connected it, with an outgoing webhook beside the connection
      When Bob writes "@kitchen look" with a file in a thread, which comes by <first> first
      Then Bob reads "look (engine.png)" in the thread, and nothing else

      Examples:
        | first       |
        | webhook     |
        | connection  |

  Rule: One process at a time keeps the connection of an instance

    Scenario: Another process takes over
      Given a service behind a router
      And Ann's Telegram bot that is polled
      And a second process
      When the process that polls dies
      And Bob writes "Still there?" to it
      Then Bob reads "Still there?"
