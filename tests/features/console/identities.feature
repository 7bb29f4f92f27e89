Feature: Keys and identities in the console
  People make and revoke their API keys, and show once that a phone, a mail address or an account is theirs.

  Scenario: A key is made, used and revoked, by keyboard alone
    Given ann opens "/console/keys"
    When she makes a key called "Nightly export" by keyboard alone
    Then a key is shown that works
    When she revokes "Nightly export" and says yes
    Then the key works no longer

  Scenario: Verifying a mail address by a code
    Given ann opens "/console/identities"
    When she has a code sent to "ann@example.com", by keyboard alone
    And she types the code of the mail
    Then "ann@example.com" is listed as verified
    When she removes "ann@example.com" and says yes
    Then nothing is listed as verified

  Scenario: Signing in at Discord in a window of its own
    Given ann opens "/console/identities"
    And she is signed in at Discord
    When she chooses to sign in at Discord
    Then the new window closes by itself
    And her account at Discord is listed as verified, without loading the page again

  Scenario: Signing in at Discord fails
    Given ann opens "/console/identities"
    And she declines at Discord
    When she chooses to sign in at Discord
    Then the new window stays open and says what to do

  Scenario: A phone number by Telegram
    Given ann opens "/console/identities"
    When she asks for a link to Telegram
    And she shares her contact with the bot there
    Then "+441632960001" is listed as verified, without loading the page again

  Scenario: The way from a notice in a chat to the page of identities
    When somebody who has not signed in follows the address in a notice on another site
    And they sign in with the key of ann
    Then the page "My identities" is shown
    When they follow the address once more
    Then the page "My identities" is shown
