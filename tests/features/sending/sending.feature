Feature: Messages that answer none
  Owners of an instance, and programs of theirs, write first. Ann has a Slack bot; it is a member of the channel "room".

  Rule: A message goes to a known conversation, to an address, or to the default channel

    Scenario: A conversation that a person began
      Given ada has written to the bot
      When ann sends "Your order is ready" to that conversation
      Then the message is accepted
      And ada reads "Your order is ready" in the direct chat
      And the message is "sent"

    Scenario: A channel
      When ann sends "Lunch is at noon" to the channel
      Then the message is accepted
      And "Lunch is at noon" stands in the channel
      And the message is "sent"

    Scenario: A person who has never written
      When ann sends "Welcome" to ada
      Then the message is accepted
      And ada reads "Welcome" in the direct chat
      When ada writes to the bot
      Then ada's message and ann's are of the same conversation

    Scenario: The default channel
      Given the bot has the channel as its default
      When ann sends "Good morning" to nobody in particular
      Then the message is accepted
      And "Good morning" stands in the channel

    Scenario: Once more to a conversation that was begun by sending
      When ann sends "Welcome" to ada
      And ann sends "How are you?" to that conversation
      Then ada reads "Welcome" and then "How are you?" in the direct chat

  Rule: Every message of a conversation can be looked at

    Scenario: What ada wrote, and what she was answered
      Given ada has written to the bot
      When ann looks at ada's message
      Then it is "done", by the sender, and says "Good morning"
      When ann looks at the answer to it
      Then it is "sent", by the resource, and says "Good morning"

    Scenario: What ann sent
      When ann sends "Welcome" to ada
      And ann looks at it
      Then it is by a person and says "Welcome"

    Scenario: A file that was sent with it can be fetched
      When ann sends a file to the channel
      Then the file is in the channel
      And the message tells where the file can be fetched
