@s4.5
Feature: Verification by signing in elsewhere
  The OAuth callback validates the state, exchanges the code, stores the identity, and tells the window that opened it.

  Scenario Outline: The user signs in
    Given Ann started <provider>
    When Ann signs in as 80351110224678912 and comes back
    Then a page tells the opener of success
    And Ann has the identity <provider> 80351110224678912

    Examples:
      | provider       |
      | gaming-chat    |
      | community-chat |

  Scenario: Discord is asked for who the user is and for nothing else
    When Ann starts gaming-chat
    Then the address asks for the scope identify, with PKCE and a state

  @grpc
  Scenario: A state is good once
    Given Ann started gaming-chat
    And Ann signed in as 80351110224678912 and came back
    When Ann comes back again
    Then a page tells the opener of failure

  Scenario: A state is valid for 600 seconds
    Given Ann started gaming-chat
    When 600 seconds pass
    And Ann signs in as 80351110224678912 and comes back
    Then a page tells the opener of failure
    And Ann has no identity

  Scenario: A made-up state
    When somebody comes back with a made-up state
    Then a page tells the opener of failure

  Scenario: A state of another provider
    Given Ann started community-chat
    When Ann signs in as 80351110224678912 and comes back to gaming-chat
    Then a page tells the opener of failure
    And Ann has no identity

  Scenario: The user declines
    Given Ann started gaming-chat
    When Ann declines
    Then a page tells the opener of failure
    And the page says "access_denied"

  Scenario: The provider does not take the code
    Given Ann started gaming-chat
    When Ann comes back with a code of her own
    Then a page tells the opener of failure
    And Ann has no identity

  Scenario: An account moves to who signed in last
    Given Ann started gaming-chat
    And Ann signed in as 80351110224678912 and came back
    When Bob starts gaming-chat
    And Bob signs in as 80351110224678912 and comes back
    Then Ann has no identity
    And Bob has the identity gaming-chat 80351110224678912
