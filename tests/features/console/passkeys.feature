Feature: Passkeys
  A device, a phone or a security key signs in by PIN, finger or face. Admins can be required to have one. The browser has
  a virtual authenticator, which proves its person.

  Scenario: A passkey signs in without a key
    Given ann has signed in with a key
    When she adds the passkey "My phone"
    Then "My phone" is among her passkeys
    When she signs out and signs in with the passkey
    Then she is signed in as "ann"
    And the audit log tells that a passkey was added and signed in

  Scenario: A passkey that was removed signs in no longer
    Given ann has signed in with a key
    And she adds the passkey "My phone"
    When she removes "My phone"
    And she signs out and signs in with the passkey
    Then the page says "This passkey is not known here"

  Scenario: Without its person a passkey signs nobody in
    Given ann has signed in with a key
    And she adds the passkey "My phone"
    When somebody else holds the device, and tries to sign in with the passkey
    Then the page says "The browser used no passkey"

  Scenario: A suspended user's passkey is refused
    Given ann has signed in with a key
    And she adds the passkey "My phone"
    When ann is suspended, and she signs in with the passkey
    Then the page says "the user 'ann' is suspended"

  Scenario: An admin has to add a passkey before anything else
    Given admin has signed in with a key
    When she opens the page of the channels
    Then the page "My passkeys" is shown
    And the page says "Add one to go on"
    When she adds the passkey "Key ring"
    And she opens the page of the channels
    Then the page "Channels" is shown
    And her API key works all the time

  Scenario: An admin who has a passkey confirms with it, and cannot add another one before that
    Given admin has signed in with a key
    And she adds the passkey "Key ring"
    When she signs out and signs in with her key
    Then the page "My passkeys" is shown
    And no passkey can be added
    When she confirms with a passkey
    Then she is signed in as "admin"

  Scenario: A passkey of somebody else confirms nothing
    Given ann has signed in with a key
    And she adds the passkey "My phone"
    And admin has signed in with a key in another browser
    And she adds the passkey "Key ring"
    When she signs out, signs in with her key, and the passkey of ann answers
    Then the page says "This passkey is not known here"

  Scenario: Another admin resets a lost passkey
    Given admin has signed in with a key
    And she adds the passkey "Key ring"
    When another admin resets her passkeys
    And she signs out and signs in with her key
    Then the page says "Add one to go on"
