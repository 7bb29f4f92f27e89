Feature: Voice messages
  A message that was spoken reaches the resource as text where speech can be recognised, and the recording goes along.

  Scenario: A spoken question
    Given a service that recognises speech
    When Ada sends a voice message about a market
    Then the resource is asked with what she said, and with the recording

  Scenario: A spoken message with a caption
    Given a service that recognises speech
    When Ada sends a voice message about a market with the caption "Listen"
    Then the text begins with "Listen", and what she said follows

  Scenario: No speech is recognised where none is set up
    Given a service without a speech model
    When Ada sends a voice message about a market
    Then the resource is asked with the recording alone

  Scenario: An instance may leave voice messages as they are
    Given a service that recognises speech, and a bot that does not transcribe
    When Ada sends a voice message about a market
    Then the resource is asked with the recording alone

  Scenario: A recording that cannot be read is handed on as a file
    Given a service that recognises speech
    When Ada sends a voice message that is damaged
    Then the resource is asked with the recording alone
