@s4.3 @s5 @s6
Feature: Microsoft Teams
  People talk to a resource through a bot in Microsoft Teams.

  Rule: What a person writes is answered in the same conversation

    Scenario Outline: <what>
      Given a bot that echoes
      When the platform posts <update>
      Then it is acknowledged with nothing
      And "<answer>" is written to <place>

      Examples:
        | what                   | update                  | answer                         | place                                                |
        | a message              | message_personal        | Is the hall free on Friday?    | a:1kQ7mZ3xW9pT4nLs8RcGd2HfJv6Yb                      |
        | a mention in a channel | message_channel_mention | ask Jonas Weber about the hall | 19:b3f0c1d2e4a5@thread.tacv2;messageid=1795176002345 |
        | a submitted card       | message_submit          | Reject                         | a:1kQ7mZ3xW9pT4nLs8RcGd2HfJv6Yb                      |

    Scenario: A pressed button
      Given a bot that echoes
      When the platform posts invoke_choice
      Then it is acknowledged with the message "Received."
      And "Approve" is written to a:1kQ7mZ3xW9pT4nLs8RcGd2HfJv6Yb

  Rule: An activity that comes again is not answered again

    Scenario: The same message twice
      Given a bot that echoes
      When the platform repeats message_personal
      Then it is acknowledged with nothing
      And it is written once

  Rule: With an appId, only what the Bot Framework signed for it is accepted

    Scenario: A message for another app
      Given a bot that echoes
      When somebody else posts message_personal
      Then the call is refused as "not known"
      And nobody is asked

    Scenario Outline: <update>
      Given a bot that echoes
      When the platform posts <update>
      Then the call is refused as "<outcome>"
      And nobody is asked

      Examples:
        | update                     | outcome   |
        | message_without_token      | not known |
        | message_of_another_service | forbidden |
        | message_of_another_channel | forbidden |
        | message_with_unknown_key   | not known |

    Scenario: The Bot Framework changes its keys
      Given a bot that echoes
      When the platform posts message_personal
      And the Bot Framework signs with a new key
      And the platform posts message_with_new_key
      Then it is acknowledged with nothing
      And "Is the hall free on Saturday?" is written to a:1kQ7mZ3xW9pT4nLs8RcGd2HfJv6Yb

  Rule: What nobody said to the bot is acknowledged and ignored

    Scenario Outline: <update>
      Given a bot that echoes
      When the platform posts <update>
      Then it is acknowledged with nothing
      And nobody is asked

      Examples:
        | update              |
        | conversation_update |
        | message_of_a_bot    |

  Rule: A platform that asks to wait is not written to earlier

    Scenario: Too many messages
      Given a bot that echoes
      And the platform asks to wait 1 second once it is written to
      When the platform posts message_personal
      Then "Is the hall free on Friday?" is written to a:1kQ7mZ3xW9pT4nLs8RcGd2HfJv6Yb
      And it is written once
