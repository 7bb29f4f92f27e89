Feature: Chats for AI clients
  A model that connects by MCP sees the channels and conversations of the key's user, and sends where it may.

  Background:
    Given ann has a webhook named "Shop" that repeats what it hears

  Rule: A model looks at chats

    Scenario: The channels and how they are, without their secrets
      When ann's model lists the channels
      Then it sees the channel "Shop", which is healthy
      And it sees nothing of the configuration

    Scenario: The conversations and what was said
      Given "ada" has written "Where is my parcel?"
      And "bert" has written "Good morning"
      When ann's model lists the conversations
      Then it sees those of "bert, ada"
      When ann's model reads the conversation of "ada"
      Then the newest message says what "Where is my parcel?" was answered with
      And the oldest message says "Where is my parcel?"

    Scenario: A search in the conversations
      Given "ada" has written "Where is my parcel?"
      And "bert" has written "Good morning"
      When ann's model lists the conversations that mention "parcel"
      Then it sees those of "ada"

    Scenario: A long conversation is read in pages
      Given "ada" has written 3 messages
      When ann's model reads the conversation of "ada" 2 at a time
      Then it sees 6 messages in 3 pages

    Scenario: A very long message is cut off
      Given "ada" has written a message of 12000 letters
      When ann's model reads the conversation of "ada"
      Then no message has more than 10000 letters

  Rule: A model sends only where the installation lets it

    Scenario: Sending is off
      When ann's client lists the tools of a gateway where sending is off
      Then there is no tool to send with
      And sending is refused there with a hint at the setting
      And nothing is sent

    Scenario: Sending is on
      When ann's model sends "Your parcel is here." through "Shop"
      Then the message arrives once

    Scenario: The same message twice
      When ann's model sends "Your parcel is here." through "Shop" with the key "parcel-1"
      And ann's model sends "Your parcel is here." through "Shop" with the key "parcel-1"
      Then the message arrives once

    Scenario: A message without anything in it
      When ann's model sends nothing through "Shop"
      Then the model is told that "text"

  Rule: Models work together with people

    Scenario: Whoever answers first has the conversation
      When ann has written twice in a conversation over REST
      Then the admin's model that answers there is told that ann has the conversation
      And the admin's model takes it over, closes it, and adds a note that ann's model reads
