Feature: One tenant's trouble is nobody else's
  Ann and Bob use the same service. Whatever Ann's platforms, senders and resources send, Bob's messages are answered
  as if she were not there.

  Rule: Ids of any length are taken as they are

    Scenario: A platform gives its messages very long ids
      Given a Mattermost of ann that gives its posts ids of 6000 characters
      And a webhook of bob
      When ada writes to ann's Mattermost 3 times
      And 20 conversations write to bob's webhook
      Then each message to bob is answered once
      And each message to ann is answered once
      And nothing waits

    Scenario: Anonymous senders with very long session ids are not served
      Given a webhook of ann that serves verified users alone
      And a webhook of bob
      When 20 conversations with session ids of 4000 characters write to ann's webhook
      And 20 conversations write to bob's webhook
      Then each message to bob is answered once
      And each conversation with ann gets the notice once
      And nothing waits

  Rule: Work that keeps failing ends, with an apology and a reason in health

    Scenario: What the work needs stays away
      Given a webhook of ann whose resource needs a file store that is closed
      And a webhook of bob
      When a conversation writes to ann's webhook
      And 20 conversations write to bob's webhook
      Then each message to bob is answered once
      And the conversation with ann gets an apology after 5 tries
      And ann's instance is not healthy, as "the file store is closed"
      And nothing waits

    Scenario: The database takes no reply of one instance
      Given a webhook of ann whose replies the database refuses
      And a webhook of bob
      When 20 conversations write to ann's webhook and 20 to bob's at once
      Then each message to bob is answered once
      And ann's instance is not healthy, as "storing the outcome"
      And nothing waits

    Scenario: The database takes no message of one instance
      Given a webhook of ann whose messages the database refuses
      And a webhook of bob
      When a call of ann's webhook cannot be stored
      And 20 conversations write to bob's webhook
      Then each message to bob is answered once
      And ann's instance is not healthy, as "storing a message"
      And nothing waits

  Rule: What is stored and cannot be read concerns itself alone

    Scenario: A damaged message and a damaged reply
      Given a webhook of ann
      And a webhook of bob
      When a message to ann is damaged in the database before it is worked on
      And a reply of ann's is damaged in the database before it is sent
      And 20 conversations write to bob's webhook
      Then each message to bob is answered once
      And ann has a dead letter
      And ann's instance is not healthy, as "cannot be read"
      And nothing waits
