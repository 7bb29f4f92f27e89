Feature: Signing in at an OpenID provider
  Colleagues sign in to the console where they sign in to everything else. The provider is another site: the browser
  leaves the console and comes back.

  Scenario: A colleague of the company signs in, sees the page that she wanted, and signs out at both
    Given addresses of "example.com" may sign in
    And the provider knows ann as "ann@example.com"
    When she opens the page of the channels and signs in at the provider
    Then the page "Channels" is shown
    And there is a user "ann@example.com" with the role member, called "Ann Archer"
    When she signs out
    Then the page "Sign in" is shown
    And the provider was asked to sign her out too

  Scenario: A user who is known already is the same user
    Given the user "ann" with the address "ann@example.com" is an admin
    And the provider knows ann as "ann@example.com"
    When she signs in at the provider
    Then she is signed in as "ann"
    And there is no user "ann@example.com"

  Scenario: The account counts and not the address, which may be given to somebody else
    Given the user "ann" with the address "ann@example.com" is an admin
    And the provider knows ann as "ann@example.com"
    And she has signed in at the provider before
    When another person of the provider with the address "ann@example.com" signs in
    Then the page says "signs in with another account of the provider"
    When ann, whose address is "archer@example.com" by now, signs in
    Then she is signed in as "ann"

  Scenario Outline: Somebody who has no access is told so
    Given addresses of "example.com" may sign in
    And the provider knows somebody with <account>
    When they sign in at the provider
    Then the page says "<text>"
    And nobody was signed in, and the audit log tells of a wrong sign-in
    When they go back to the sign-in
    Then the page "Sign in" is shown

    Examples:
      | account                          | text                                          |
      | the address eve@elsewhere.org    | E-mail addresses of your domain have no access |
      | the address eve@sub.example.com  | E-mail addresses of your domain have no access |
      | an address that is not verified  | E-mail addresses of your domain have no access |

  Scenario: Without domains and maps only those who are known may sign in
    Given the provider knows somebody with the address eve@example.com
    When they sign in at the provider
    Then the page says "Ask an admin for an invitation"

  Scenario: Somebody who is invited may sign in, with the role of the invitation
    Given an admin has invited "ann@example.com" as an admin
    And the provider knows ann as "ann@example.com"
    When she signs in at the provider
    Then she has the role admin, and is in no team

  Scenario: A suspended user is refused
    Given the user "ann" with the address "ann@example.com" is an admin
    And ann is suspended
    And the provider knows ann as "ann@example.com"
    When she signs in at the provider
    Then the page says "the user 'ann' is suspended; ask an admin"

  Scenario: Groups of the provider decide the role and the teams, at each sign-in
    Given the roles "staff=responder, it=admin" and the teams "billing=Billing, sales=Sales"
    And the teams Billing, Sales and Other, of which Sales and Other have ann
    And another user is an admin
    And the provider knows ann as "ann@example.com" in the groups "staff, it, billing"
    When she signs in at the provider
    Then she has the role admin, and is in the teams Billing and Other
    When the provider has ann in the groups "staff, sales" alone, and she signs in anew
    Then she has the role responder, and is in the teams Sales and Other
    When the provider has ann in the groups "guests" alone, and she signs in anew
    Then the page says "None of your groups at the provider has a role here"

  Scenario: The last admin stays one, whatever the groups say
    Given the roles "staff=responder" and the teams "billing=Billing"
    And the user "ann@example.com" with the address "ann@example.com" is an admin
    And the provider knows ann as "ann@example.com" in the groups "staff"
    When she signs in at the provider
    Then she has the role admin, and is in no team

  Scenario: Groups may stand in the user information
    Given the roles "staff=responder" and the teams "billing=Billing"
    And the teams Billing, Sales and Other, of which Sales and Other have nobody
    And the provider tells only in the user information that ann is in the groups "staff, billing"
    When she signs in at the provider
    Then she has the role responder, and is in the team Billing

  Scenario Outline: What proves nothing signs nobody in
    Given addresses of "example.com" may sign in
    And the provider knows ann as "ann@example.com"
    But the provider sends <fault>
    When she signs in at the provider
    Then the page says "<text>"
    And nobody was signed in, and the audit log tells of a wrong sign-in

    Examples:
      | fault               | text                                  |
      | another state       | began in another browser              |
      | another nonce       | belongs to another sign-in            |
      | no nonce            | belongs to another sign-in            |
      | an expired token    | has expired                           |
      | a token of tomorrow | one of the clocks is wrong            |
      | a wrong signature   | signature of the provider             |
      | no signature        | not signed with a public key          |
      | another audience    | for another application               |
      | another party       | for another application               |
      | another issuer      | another issuer                        |
      | a refused code      | does not accept this sign-in          |
      | a refusal           | access_denied                         |

  Scenario: A sign-in that somebody else began is not finished in this browser
    Given addresses of "example.com" may sign in
    And the provider knows eve as "eve@example.com"
    When eve begins a sign-in and sends ann the address at which it ends
    And ann opens it
    Then the page says "began in another browser"

  Scenario: The provider signs with new keys
    Given addresses of "example.com" may sign in
    And the provider knows ann as "ann@example.com"
    And she has signed in at the provider before
    When the provider signs with a new key a little later, and she signs in anew
    Then she is signed in as "ann@example.com"

  Scenario: A provider that does not answer leaves keys and links
    Given addresses of "example.com" may sign in
    And the provider does not answer
    When they sign in at the provider
    Then the page says "does not answer at the moment"
    When they sign in with the key of bob in its place
    Then she is signed in as "bob"

  Scenario: A provider that fails in the middle is said to be away
    Given addresses of "example.com" may sign in
    And the provider knows ann as "ann@example.com"
    But the provider sends an outage
    When she signs in at the provider
    Then the page says "does not answer at the moment"
