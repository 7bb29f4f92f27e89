@s4.3 @s5 @s6
Feature: Slack
  People talk to a resource in a Slack workspace.

  Rule: Slack's check of the address is answered with the challenge

    Scenario: The challenge
      Given a bot that echoes
      When the platform posts url_verification
      Then it is acknowledged with the challenge
      And nobody is asked

  Rule: Mentions, direct messages and buttons are answered where they stand

    Scenario Outline: <what>
      Given a bot that echoes
      When the platform posts <event>
      Then it is acknowledged with nothing
      And "<answer>" is written to <place>

      Examples:
        | what                  | event                 | answer       | place                            |
        | a mention in a thread | app_mention_in_thread | and now, ?   | C0ROOM thread 1800000001.000100  |
        | a direct message      | message_im            | Good morning | D0ADA                            |
        | a button of a program | block_actions         | c:1:approve  | C0ROOM thread 1800000001.000100  |

  Rule: A slash command is acknowledged to its sender alone and answered later

    Scenario: A slash command
      Given a bot that echoes
      When the platform posts slash_command
      Then it is acknowledged with "Working on it…" for the sender alone
      And "how hot is steam?" is written to its response address

  Rule: What arrives twice is answered once

    Scenario Outline: <event> twice
      Given a bot that echoes
      When the platform repeats <event>
      Then it is written once

      Examples:
        | event         |
        | message_im    |
        | slash_command |

    Scenario: A mention comes as two events
      Given a bot that echoes
      When the platform posts app_mention
      And the platform posts message_mention
      Then it is written once

  Rule: Without Slack's signature nothing is accepted

    Scenario: A forged event
      Given a bot that echoes
      When somebody else posts message_im
      Then the call is refused as "not known"
      And nobody is asked

  Rule: What nobody said to the bot is acknowledged and ignored

    Scenario Outline: <event>
      Given a bot that echoes
      When the platform posts <event>
      Then it is acknowledged with nothing
      And nobody is asked

      Examples:
        | event            |
        | message_channel  |
        | message_from_bot |
        | message_own      |
        | message_changed  |
        | message_deleted  |
        | reaction_added   |
        | shortcut         |

  Rule: An answer that takes its time is shown while it is made, in one message

    Scenario: A long answer grows where it will stand
      Given a bot whose resource answers piece by piece
      When the platform posts app_mention_in_thread
      Then "Steam is …" is shown in C0ROOM thread 1800000001.000100
      And "Steam is *hot*." takes its place

    Scenario: An answer at once is not shown before
      Given a bot that echoes
      When the platform posts message_im
      Then "Good morning" is written to D0ADA
      And nothing of it was changed

  Rule: What the bot posted is no message, whoever seems to have posted it

    Scenario: An answer that comes back in the name of a person
      Given a bot that echoes
      When the platform posts message_im
      And the answer is on record as sent
      And the platform posts own_answer_of_a_person
      Then nothing else is asked

  Rule: A platform that asks to wait is not written to earlier

    Scenario: Too many messages
      Given a bot that echoes
      And the platform asks to wait 1 second once it is written to
      When the platform posts message_im
      Then "Good morning" is written to D0ADA
      And it is written once
