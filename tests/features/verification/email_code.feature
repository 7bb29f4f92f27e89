@s4.5 @s8
Feature: Verification by a code in a mail
  start-email sends a 6-digit code that is valid for 600 seconds; verify-email takes it.

  Scenario: The right code
    When Ann starts e-mail with ann@example.com
    And Ann enters the code
    Then Ann has the identity email ann@example.com

  Scenario: The mail is readable everywhere
    When Ann starts e-mail with ann@example.com
    Then the mail shows the same code as text and as HTML

  Scenario: Addresses are the same in any case
    When Ann starts e-mail with ANN@Example.com
    And Ann enters the code
    Then Ann has the identity email ann@example.com

  Scenario Outline: What is no address
    When Ann asks for a code to "<address>"
    Then it is refused as invalid, naming "email"
    And no mail was sent

    Examples:
      | address                |
      | nobody                 |
      | a@b@c                  |
      | ann@example.com, bob@x |

  Scenario: A code that is too old
    Given Ann started e-mail with ann@example.com
    When 600 seconds pass
    And Ann enters the code
    Then it is refused as invalid, naming "otp"
    And Ann has no identity

  Scenario: A code just in time
    Given Ann started e-mail with ann@example.com
    When 599 seconds pass
    And Ann enters the code
    Then Ann has the identity email ann@example.com

  Scenario: Another user's code
    Given Ann started e-mail with ann@example.com
    When Bob enters the code
    Then it is refused as invalid, naming "otp"

  Scenario: A new code voids the earlier one
    Given Ann started e-mail with ann@example.com
    And Ann noted the code
    And Ann started e-mail with ann@example.com
    When Ann enters the noted code
    Then it is refused as invalid, naming "otp"

  Scenario: A code is good once
    Given Ann verified the address ann@example.com
    When Ann enters the code
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
    And 5 mails were sent

  Scenario: After an hour there are codes again
    Given Ann started e-mail with ann@example.com
    When Ann starts it 5 times more
    And 3600 seconds pass
    And Ann starts e-mail with ann@example.com
    And Ann enters the code
    Then Ann has the identity email ann@example.com

  Scenario: Another user asking for the same address is counted too
    Given Ann started e-mail with ann@example.com
    When Ann starts it 4 times more
    And Bob asks for a code to "ann@example.com"
    Then it is refused as too often
