@s2.6 @s4.5 @s5 @s8
Feature: Identity verification
  Users prove which addresses, numbers and accounts are theirs, so that instances know who writes.

  Rule: Anybody may see which ways are set up

    Scenario: The list of providers
      When nobody in particular asks for the providers
      Then bot-messenger, email and gaming-chat are offered
      And workspace-chat and community-chat are not

    Scenario: A way that is not set up
      When Ann starts workspace-chat
      Then it is refused as invalid, naming "workspace-chat"

  Rule: start-email sends a 6-digit code that is valid for 600 seconds

    Scenario: The right code
      When Ann starts e-mail with ann@example.com
      And Ann enters the code
      Then Ann has the identity email ann@example.com

    Scenario: A code that is too old
      Given Ann started e-mail with ann@example.com
      When 600 seconds pass
      And Ann enters the code
      Then it is refused as invalid, naming "otp"
      And Ann has no identity

    Scenario: Another user's code
      Given Ann started e-mail with ann@example.com
      When Bob enters the code
      Then it is refused as invalid, naming "otp"

    Scenario: Five wrong tries void the code
      Given Ann started e-mail with ann@example.com
      And Ann entered a wrong code 5 times
      When Ann enters the code
      Then it is refused as invalid, naming "otp"

    Scenario: At most five codes go to one address in an hour
      Given Ann started e-mail with ann@example.com
      When Ann starts it 5 times more
      Then it is refused as too often

  Rule: Completing the bot-messenger verification stores three identities

    Scenario: The own contact is shared
      Given Ann started the bot and opened its link
      When the messenger user shares the own contact +4915112345678
      Then Ann has the identities phone, bot-messenger and business-messaging

    Scenario: Somebody else's contact is shared
      Given Ann started the bot and opened its link
      When the messenger user shares another's contact +4915112345678
      Then Ann has no identity

    Scenario: The link is valid for 300 seconds
      Given Ann started the bot and opened its link
      When 300 seconds pass
      And the messenger user shares the own contact +4915112345678
      Then Ann has no identity

    Scenario: A bot of its own completes with the internal service key
      Given Ann started the bot
      When a service completes it with its key for +4915112345678
      Then Ann has the identities phone, bot-messenger and business-messaging

    Scenario: A user cannot complete it
      Given Ann started the bot
      When Bob completes it for +4915112345678
      Then it is refused as forbidden
      And Ann has no identity

  Rule: The OAuth callback validates the state, exchanges the code and stores the identity

    Scenario: The user signs in
      Given Ann started gaming-chat
      When Ann signs in as 80351110224678912 and comes back
      Then a page tells the opener of success
      And Ann has the identity gaming-chat 80351110224678912

    Scenario: A state is good once
      Given Ann started gaming-chat
      And Ann signed in as 80351110224678912 and came back
      When Ann comes back again
      Then a page tells the opener of failure

    Scenario: A made-up state
      When somebody comes back with a made-up state
      Then a page tells the opener of failure

  Rule: An identity belongs to the user who verified it last

    Scenario: An account moves
      Given Ann started gaming-chat
      And Ann signed in as 80351110224678912 and came back
      When Bob starts gaming-chat
      And Bob signs in as 80351110224678912 and comes back
      Then Ann has no identity
      And Bob has the identity gaming-chat 80351110224678912
