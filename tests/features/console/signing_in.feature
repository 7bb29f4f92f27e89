Feature: Signing in to the console
  A person signs in with an API key or with a link that works once. The session ends with the key.

  Scenario: Somebody who has not signed in is asked to, and a wrong key is refused beside the field
    When somebody opens the overview
    Then the page "Sign in" is shown
    When they sign in with a key that nobody has, by keyboard alone
    Then the field for the key says that the key is not known
    When they sign in with the key of ann, by keyboard alone
    Then the page "Overview" is shown

  @narrow
  Scenario: Signing out ends the session
    Given ann has signed in and sees the overview
    When she signs out
    Then the page "Sign in" is shown
    And the session's cookie opens nothing any more

  Scenario Outline: A page that stays open says that its person is signed out
    Given ann has signed in and sees the page "<page>"
    When <the session ends>
    And she comes back to the page
    Then the page says that she is signed out, and asks the server for nothing more
    When she follows its link and signs in with a new key
    Then the page "<page>" is shown

    Examples:
      | page      | the session ends             |
      | Overview  | she signs out in another tab |
      | Inbox     | her session is revoked       |
      | Schedules | her key is revoked           |

  Scenario: A session ends after twelve hours without use, and after seven days at the latest
    Given ann has signed in and sees the overview
    When 11 hours pass and she opens the overview again
    Then the page "Overview" is shown
    When 11 hours pass and she opens the overview again
    Then the page "Overview" is shown
    When 13 hours pass and she opens the overview again
    Then the page "Sign in" is shown

  Scenario: A person sees where she is signed in, and signs another browser out
    Given ann has signed in on a phone and on a computer
    When she looks at her signed-in browsers on the computer
    Then she sees "Chrome on Android" and "Firefox on Windows", each with its address
    When she signs the phone out
    Then the phone has to sign in again, and the computer not

  Scenario: A link by mail signs a user in once, and leads to the page that was wanted
    Given the user "ann" with the address "ann@example.com"
    When somebody asks for a link to "Ann@example.com" on the way to "/console/identities"
    Then they are told that a link is on its way if a user has the address
    When they follow the link of the mail
    Then the page "My identities" is shown
    When they follow it once more in another browser
    Then they are told that the link was used

  Scenario: Whoever asks for a link learns nothing about addresses
    When somebody asks for a link to "nobody@example.com" on the way to "/console"
    Then they are told that a link is on its way if a user has the address
    And no mail was sent

  Scenario: An invited person becomes a user
    When an admin invites "cleo@example.com" as a responder into the team "Support"
    Then the list says that the invitation is open
    When the invited person follows the link of the mail and says that she is "Cleo Cole"
    Then she is the user "cleo@example.com", called "Cleo Cole", a responder in the team "Support"
    And the link of the mail says that it was used

  Scenario: What was typed stays on the page when the session has ended
    Given ann has signed in and sees the page "Channels"
    When she chooses to connect a channel
    And her key is revoked
    And she searches for the channel "Tele"
    Then the page says that she is signed out, and asks the server for nothing more
    And the search still says "Tele"
