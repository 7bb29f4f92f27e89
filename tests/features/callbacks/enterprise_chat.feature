@s4.3 @s5 @s6
Feature: Microsoft Teams
  People talk to a resource through a bot in Microsoft Teams.

  Rule: What a person writes is answered in the same conversation

    Scenario Outline: Answered: <update>
      Given a bot that echoes
      When the platform posts <update>
      Then it is acknowledged with nothing
      And "<answer>" is written to <place>

      Examples:
        | update                 | answer                         | place                     |
        | a message              | Is the hall free on Friday?    | the direct chat           |
        | a mention in a channel | ask Jonas Weber about the hall | the thread of the channel |
        | a submitted card       | Reject                         | the direct chat           |

    Scenario: A pressed button
      Given a bot that echoes
      When the platform posts a pressed button
      Then Teams is told to show "Received."
      And "Approve" is written to the direct chat

  Rule: An activity that comes again is not answered again

    Scenario: The same message twice
      Given a bot that echoes
      When the platform repeats a message
      Then it is acknowledged with nothing
      And it is written once

  Rule: With an appId, only what the Bot Framework signed for it is accepted

    Scenario: A message for another app
      Given a bot that echoes
      When somebody else posts a message
      Then the call is refused as "not known"
      And nobody is asked

    Scenario Outline: Refused: <update>
      Given a bot that echoes
      When the platform posts <update>
      Then the call is refused as "<outcome>"
      And nobody is asked

      Examples:
        | update                               | outcome   |
        | a message without a token            | not known |
        | a message of another service         | forbidden |
        | a message of another channel         | forbidden |
        | a message signed with an unknown key | not known |

    Scenario: The Bot Framework changes its keys
      Given a bot that echoes
      When the platform posts a message
      And the Bot Framework signs with a new key
      And the platform posts a message signed with the new key
      Then it is acknowledged with nothing
      And "Is the hall free on Saturday?" is written to the direct chat

  Rule: What nobody said to the bot is acknowledged and ignored

    Scenario Outline: Ignored: <update>
      Given a bot that echoes
      When the platform posts <update>
      Then it is acknowledged with nothing
      And nobody is asked

      Examples:
        | update                   |
        | that somebody joined     |
        | a message of another bot |

  Rule: A platform that asks to wait is not written to earlier

    Scenario: Too many messages
      Given a bot that echoes
      And the platform asks to wait 1 second once it is written to
      When the platform posts a message
      Then "Is the hall free on Friday?" is written to the direct chat
      And it is written once
