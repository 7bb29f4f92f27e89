Feature: Signing in with the account of a chat platform
  A bot does not answer somebody whom it does not know, and sends the address where they can say who they are. They
  finish there without a key, by their account at the platform where they wrote.

  Scenario: Somebody whom a bot refused says who they are by their account at Discord
    Given the user "ann" with the address "ann@example.com"
    And Discord knows the person as account 4711 with the verified address "Ann@Example.com"
    When the person follows the address in a notice on another site
    And signs in with Discord
    Then the page "My identities" is shown
    And account 4711 at Discord is listed as verified
    And the page says "go back to it and write again"
    And the audit log tells of "identity.verified, session.opened" by "ann"

  Scenario: A user signs in with an account that is verified already, whatever its address is
    Given the user "ann" with the address "ann@example.com"
    And the user "bob" with the address "bob@example.com"
    And bob has verified account 4711 at Discord
    And Discord knows the person as account 4711 with the verified address "ann@example.com"
    When the person opens the sign-in and signs in with Discord
    Then the person is signed in as "bob"
    And the audit log tells of "session.opened" by "bob"

  Scenario: Mattermost is another way
    Given the user "ann" with the address "ann@example.com"
    And Mattermost knows the person as account 4711 with the verified address "ann@example.com"
    When the person opens the sign-in and signs in with Mattermost
    Then the person is signed in as "ann"

  Scenario Outline: Somebody who is no user is told what to do, and becomes none
    Given the user "ann" with the address "ann@example.com"
    And Discord knows the person as account 4711 with the <address>
    When the person opens the sign-in and signs in with Discord
    Then the page says "Ask an admin for an invitation"
    And nobody is signed in, and nothing is verified
    And "ann" is the only user
    And the audit log tells of "session.refused" by <name>
    When the person goes back to the sign-in
    Then the page "Sign in" is shown

    Examples:
      | address                              | name              |
      | verified address "eve@example.com"   | "eve@example.com" |
      | unverified address "ann@example.com" | nobody            |

  Scenario: Somebody to whom the address of a user was given does not become that user
    Given the user "ann" with the address "ann@example.com"
    And ann has verified account 815 at Discord
    And Discord knows the person as account 4711 with the verified address "ann@example.com"
    When the person opens the sign-in and signs in with Discord
    Then the page says "belongs to a user who has verified another account"
    And nobody is signed in

  Scenario Outline: A suspended user is refused
    Given the user "ann" with the address "ann@example.com"
    And <known> account 4711 at Discord
    And Discord knows the person as account 4711 with the verified address "ann@example.com"
    And ann is suspended
    When the person opens the sign-in and signs in with Discord
    Then the page says "the user 'ann' is suspended"
    And nobody is signed in

    Examples:
      | known                 |
      | ann has verified      |
      | nobody has verified   |

  Scenario: Somebody who declines at Discord is told so
    Given the person declines at Discord
    When the person opens the sign-in and signs in with Discord
    Then the page says "access_denied"
    And nobody is signed in

  Scenario: Discord does not confirm the account
    Given the user "ann" with the address "ann@example.com"
    And Discord tells nothing of the person
    When the person opens the sign-in and signs in with Discord
    Then the page says "The platform did not confirm your account"
    And nobody is signed in

  Scenario: An admin of an installation that asks admins for passkeys has to add one first
    Given the user "ann" with the address "ann@example.com" is an admin
    And admins have to confirm with a passkey
    And Discord knows the person as account 4711 with the verified address "ann@example.com"
    When the person opens the sign-in and signs in with Discord
    Then the page "My passkeys" is shown

  Scenario: A sign-in that somebody else began is worth nothing
    Given the user "eve" with the address "eve@example.com"
    And Discord knows the person as account 4711 with the verified address "eve@example.com"
    When the person begins a sign-in, and has somebody else open the address at which it ends
    Then the page says "began in another browser"
    And nobody is signed in, and nothing is verified
