@s4.3 @s5 @s6
Feature: Discord
  People talk to a resource on Discord.

  Rule: Each type of interaction gets the acknowledgement that Discord expects

    Scenario: A ping
      Given a bot that echoes
      When the platform posts ping
      Then it is acknowledged with a pong
      And nobody is asked

    Scenario Outline: <what>
      Given a bot that echoes
      When the platform posts <interaction>
      Then it is acknowledged with <acknowledgement>
      And "<answer>" is written to <place>

      Examples:
        | what                 | interaction      | acknowledgement | answer            | place                 |
        | a command            | command_guild    | thinking        | how hot is steam? | the place of thinking |
        | a direct command     | command_dm       | thinking        | hello             | the place of thinking |
        | a pressed button     | component_button | no change       | c:1:approve       | a follow-up           |
        | chosen options       | component_select | no change       | f, c              | a follow-up           |

  Rule: Messages that a forwarder hands on are answered in their channel, without mention tags

    Scenario Outline: <what>
      Given a bot that echoes
      When the platform posts <message>
      Then it is acknowledged with nothing
      And "<answer>" is written to <place>

      Examples:
        | what             | message         | answer                      | place              |
        | a mention        | message_mention | is :steam: hot, @charles?   | 772908445358620702 |
        | a direct message | message_dm      | Good morning                | 645027906669510667 |

  Rule: An interaction that comes again is not answered again

    Scenario: The same interaction twice
      Given a bot that echoes
      When the platform repeats command_guild
      Then it is written once

  Rule: Without Discord's signature nothing is accepted

    Scenario Outline: A forged <interaction>
      Given a bot that echoes
      When somebody else posts <interaction>
      Then the call is refused as "not known"
      And nobody is asked

      Examples:
        | interaction   |
        | ping          |
        | command_guild |

  Rule: What nobody said to the bot is acknowledged and ignored

    Scenario Outline: <body>
      Given a bot that echoes
      When the platform posts <body>
      Then it is acknowledged with <acknowledgement>
      And nobody is asked

      Examples:
        | body             | acknowledgement |
        | message_other    | nothing         |
        | message_from_bot | nothing         |
        | message_own      | nothing         |
        | modal_submit     | no change       |
        | autocomplete     | no suggestions  |

  Rule: A platform that asks to wait is not written to earlier

    Scenario: Too many messages
      Given a bot that echoes
      And the platform asks to wait 1 second once it is written to
      When the platform posts command_guild
      Then "how hot is steam?" is written to the place of thinking
      And it is written once
