Feature: Messages that cannot be sent are refused
  The error names the field and says what to do. Ann has a Slack bot without a default channel.

  Rule: A message says something, and to one place

    Scenario Outline: <what>
      When ann asks to send <what>
      Then the request is "invalid"
      And the error names <field>

      Examples:
        | what                                        | field                  |
        | nothing at all                              | text                   |
        | blanks                                      | text                   |
        | a text of 100001 characters                 | text                   |
        | to a conversation and to an address         | to                     |
        | to nobody, with no default channel          | to                     |
        | to an empty address                         | to                     |
        | to an address with a line break             | to                     |
        | to an address with a control character      | to                     |
        | to an address of 10 KB                      | to                     |
        | to a mail address                           | to                     |
        | to a person whom Slack does not know        | to                     |
        | a subject with a line break                 | subject                |
        | a subject to a conversation                 | subject                |
        | 21 files                                    | files                  |
        | files of 11 MB                              | files                  |
        | a file without a name                       | files[0].name          |
        | a file with a strange media type            | files[0].mimeType      |
        | a file with an address and bytes            | files[0]               |
        | a file with neither                         | files[0]               |
        | a file at an address that is none           | files[0].url           |
        | 26 choices                                  | choices                |
        | choices without a text                      | choices                |
        | a choice without a label                    | choices[0].label       |
        | a choice of two lines                       | choices[0].label       |
        | a choice with a value of 2001 characters    | choices[0].value       |
        | a template                                  | template               |

    Scenario: A conversation that nobody began
      When ann asks to send to an unknown conversation
      Then the request is "not found"

    Scenario: A channel that cannot send
      Given a schedule of ann's
      When ann asks to send "Hello" through the schedule
      Then the request is "invalid"
      And the error says that it cannot send

    Scenario: An instance whose secrets were lost
      Given the bot's configuration cannot be read
      When ann asks to send "Hello" to the channel
      Then the request is "conflict"

  Rule: Templates are complete, and stand alone

    Scenario Outline: <what> on WhatsApp
      Given ann has a WhatsApp number
      When ann asks to send <what>
      Then the request is "invalid"
      And the error names <field>

      Examples:
        | what                                    | field                  |
        | a template beside a text                | template               |
        | a template without a name               | template.name          |
        | a template without a language           | template.language      |
        | a template with 51 parameters           | template.parameters    |
        | a template with an empty parameter      | template.parameters[0] |

  Rule: Only the owner and administrators send and look

    Scenario: Somebody else sends
      When bob sends "Hello" to the channel
      Then the request is "forbidden"
      And nothing was stored

    Scenario: An administrator sends
      When admin sends "Hello" to the channel
      Then the request is "accepted"

    Scenario: Somebody else looks
      Given ann has sent "Hello" to the channel
      When bob looks at the message
      Then the request is "forbidden"

    Scenario: Through an instance that does not exist
      When ann sends through an instance that does not exist
      Then the request is "not found"

    Scenario Outline: Looking for <message>
      Given ann has sent "Hello" to the channel
      When ann looks for <message>
      Then the request is "not found"

      Examples:
        | message                                |
        | a message that was never sent          |
        | an id that is none                     |
        | the message at another bot of hers     |
        | the answer to a message without one    |

  Rule: A message that the platform refuses is a dead letter that can be sent again

    Scenario: The bot is not in the channel
      When ann sends "Hello" to a channel that the bot is not in
      Then the request is "accepted"
      And the message is "dead"
      And its reason is "not_in_channel"

    Scenario: Replayed once it works
      Given Slack refuses the next message
      When ann sends "Hello" to the channel
      Then the message is "dead"
      When ann replays it
      Then the message is "sent"
      And "Hello" stands in the channel
