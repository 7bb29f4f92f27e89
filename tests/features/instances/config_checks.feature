@s4.2 @s5
Feature: Checks of a configuration before it is saved
  Whoever fills in a form learns what is wrong while writing, and whether the platform takes the credentials.

  Rule: The faults are those of saving, and nothing is saved

    Scenario: Several faults at once
      When ann checks a new mailbox with a port as text and a sender that is no address
      Then the faults are at "config.smtpPort" and "config.fromEmail"
      And ann has no instances

    Scenario: A name and a resource that are none
      When ann checks a new mailbox without a name, bound to "agent::"
      Then the faults are at "channelName" and "downStreamResourceId"

    Scenario: Nothing is wrong
      When ann checks a new mailbox
      Then there are no faults
      And ann has no instances

    Scenario: A channel that nobody knows
      When ann checks an instance of the channel "pigeon-post"
      Then the answer is "not found"

  Rule: Secrets that a change leaves out are the stored ones

    Scenario: A change without the token
      Given ann's bot on a chat server
      When ann checks a change of it without the token
      Then there are no faults

    @grpc
    Scenario: A change that takes the token away
      Given ann's bot on a chat server
      When ann checks a change of it that takes the token away
      Then the faults are at "config.token"

    Scenario: Somebody else's bot
      Given ann's bot on a chat server
      When bob checks a change of it without the token
      Then the answer is "forbidden"

  Rule: The platform is asked whether it takes the credentials

    @grpc
    Scenario: It takes them
      When ann checks the credentials of a new bot
      Then the credentials are "accepted"
      And ann has no instances

    Scenario: It refuses them, in its own words
      When ann checks the credentials of a new bot with a wrong token
      Then the credentials are "refused" with "Invalid or expired session"
      And it says what to do

    Scenario: It does not answer
      Given the chat server fails
      When ann checks the credentials of a new bot
      Then the credentials are "unreachable" with "Mattermost"
      And it says what to do

    Scenario: The stored token is tried with what was changed
      Given ann's bot on a chat server
      When ann checks the credentials of a change of it without the token
      Then the credentials are "accepted"

    Scenario: A bot that did not work when it was saved
      Given ann's bot on a chat server that refused it
      When ann checks its credentials
      Then the credentials are "accepted"
      And the bot is healthy

    Scenario: Somebody else's credentials
      Given ann's bot on a chat server
      When bob checks its credentials
      Then the answer is "forbidden"

    Scenario: Nothing is sent with a faulty configuration
      When ann checks the credentials of a new bot without a token
      Then the answer is "invalid"
      And the chat server was not called

    Scenario: An address that is out of bounds
      When ann checks the credentials of a new bot at the metadata service of the machine
      Then the credentials are "refused" with "outbound address policy"

    Scenario: A channel that signs in nowhere
      When ann checks the credentials of a schedule
      Then the credentials are "nothing-to-check"

    Scenario: Somebody who tries passwords
      When a user checks the credentials of a new bot too often
      Then the answer is "too often"

  Rule: A form knows which fields are secret and which come first

    Scenario: The form of a bot
      When ann looks at the form of "community-chat"
      Then its secrets are "token" and "webhookToken"
      And its first fields are "SERVER_URL", "channelId", "token", "webhookToken" and "connection"
      And it works without a public address
