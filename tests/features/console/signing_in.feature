Feature: Signing in to the console
  A person signs in with an API key or with a link that works once. The session ends with the key.

  Scenario: Somebody who has not signed in is asked to
    When somebody opens the overview
    Then the page "Sign in" is shown
    When they sign in with the key of ann, by keyboard alone
    Then the page "Overview" is shown

  Scenario: A wrong key is refused beside the field
    When somebody opens the overview
    And they sign in with a key that nobody has, by keyboard alone
    Then the field for the key says that the key is not known

  Scenario: The session ends when its key is revoked
    Given ann has signed in and sees the overview
    When her key is revoked
    And she opens the overview again
    Then the page "Sign in" is shown

  Scenario: Signing out ends the session
    Given ann has signed in and sees the overview
    When she signs out
    Then the page "Sign in" is shown
    And the session's cookie opens nothing any more
