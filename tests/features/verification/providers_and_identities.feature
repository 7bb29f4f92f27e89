@s2.6 @s4.5 @s5
Feature: Providers and identities
  Users prove which addresses, numbers and accounts are theirs, so that instances know who writes.

  Rule: Anybody may see which ways are set up

    @grpc
    Scenario: The list of providers
      When nobody in particular asks for the providers
      Then bot-messenger, email, gaming-chat and community-chat are offered
      And workspace-chat is not

    @grpc
    Scenario: A way that is not set up
      When Ann starts workspace-chat
      Then it is refused as invalid, naming "workspace-chat"

  Rule: Identities are listed for their user alone

    Scenario: Nothing is verified yet
      Then Ann has no identity

    Scenario: What others verified does not show
      Given Ann verified the address ann@example.com
      Then Ann has the identity email ann@example.com
      And Bob has no identity

    Scenario: Without a key
      When nobody in particular asks for the identities
      Then it is refused as not known

  Rule: An identity can be removed by its user

    @grpc
    Scenario: Ann removes her address
      Given Ann verified the address ann@example.com
      When Ann removes the identity email ann@example.com
      Then it is done
      And Ann has no identity

    Scenario: Values are compared as they are stored
      Given Ann started the bot and opened its link
      And the messenger user shared the own contact +4915112345678
      When Ann removes the identity phone 4915112345678
      Then it is done
      And Ann has the identities bot-messenger and business-messaging

    Scenario Outline: What the user does not have
      Given Ann verified the address ann@example.com
      When <user> removes the identity <field> <value>
      Then it is refused as not found
      And Ann has the identity email ann@example.com

      Examples:
        | user | field | value           |
        | Bob  | email | ann@example.com |
        | Ann  | email | bob@example.com |
        | Ann  | phone | ann@example.com |
        | Ann  | shoe  | a%2Fb           |

  Rule: An identity belongs to the user who verified it last

    Scenario: An address moves
      Given Ann verified the address ann@example.com
      When Bob verifies the address ann@example.com
      Then Ann has no identity
      And Bob has the identity email ann@example.com

  Rule: A verified sender is known on every channel that carries such an id

    @grpc
    Scenario Outline: The phone shared with the bot opens closed instances
      Given Ann started the bot and opened its link
      And the messenger user shared the own contact +4915112345678
      And Bob's <channel> instance, which an admin trusts, serves verified users alone
      When 4915112345678 writes "hello" to it
      And 4915187654321 writes "hello" to it
      Then 4915112345678 is answered "hello"
      And 4915187654321 is told where to verify

      Examples:
        | channel            |
        | business-messaging |
        | sms-provider       |
