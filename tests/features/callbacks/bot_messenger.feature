@s4.3 @s5 @s6
Feature: Telegram
  People talk to a resource through a Telegram bot.

  Rule: The webhook is registered with the platform when the instance is made

    Scenario: Registered with the secret that later calls must bear
      Given a bot that echoes
      Then its webhook is registered

  Rule: What a person writes is answered in the same chat

    Scenario Outline: <what>
      Given a bot that echoes
      When the platform posts <update>
      Then it is acknowledged with nothing
      And "<answer>" is written to <place>

      Examples:
        | what                  | update          | answer                      | place                  |
        | a message             | message_text    | When does the engine stop?  | 5550001                |
        | an edited message     | edited_message  | When does the engine start? | 5550001                |
        | a command             | message_command | how hot is steam?           | 5550001                |
        | a mention in a topic  | message_topic   | is it running?              | -1002000300040 topic 7 |
        | a button of a program | callback_query  | c:1:approve                 | 5550001                |

    Scenario: A button of a program stops waiting
      Given a bot that echoes
      When the platform posts callback_query
      Then its button stops waiting

    Scenario Outline: <command> gets a greeting
      Given a bot that echoes
      When the platform posts <update>
      Then "Hello! Send me a message, a question or a file, and I will answer here." is written to 5550001

      Examples:
        | command | update        |
        | /start  | message_start |
        | /help   | message_help  |

    Scenario: Who is not served is not invited either
      Given a bot that echoes for verified users alone
      When the platform posts message_start
      Then "Only verified users are served here. Verify your identity at http://localhost:3010 and write again." is written to 5550001

  Rule: An update that comes again is not answered again

    Scenario: The same update twice
      Given a bot that echoes
      When the platform repeats message_text
      Then it is acknowledged with nothing
      And it is written once

  Rule: Without the secret nothing is accepted

    Scenario: A forged update
      Given a bot that echoes
      When somebody else posts message_text
      Then the call is refused as "not known"
      And nobody is asked

  Rule: What nobody said to the bot is acknowledged and ignored

    Scenario Outline: <update>
      Given a bot that echoes
      When the platform posts <update>
      Then it is acknowledged with nothing
      And nobody is asked

      Examples:
        | update                |
        | message_from_bot      |
        | message_service       |
        | callback_query_inline |
        | inline_query          |

  Rule: A platform that asks to wait is not written to earlier

    Scenario: Too many messages
      Given a bot that echoes
      And the platform asks to wait 1 second once it is written to
      When the platform posts message_text
      Then "When does the engine stop?" is written to 5550001
      And it is written once
