@s4.3 @s5 @s6
Feature: Telegram
  People talk to a resource through a Telegram bot.

  Rule: The webhook is registered with the platform when the instance is made

    Scenario: Registered with the secret that later calls must bear
      Given a bot that echoes
      Then its webhook is registered

  Rule: What a person writes is answered in the same chat

    Scenario Outline: Answered: <update>
      Given a bot that echoes
      When the platform posts <update>
      Then it is acknowledged with nothing
      And "<answer>" is written to <place>

      Examples:
        | update                              | answer                      | place                  |
        | a message                           | When does the engine stop?  | the chat               |
        | an edited message                   | When does the engine start? | the chat               |
        | a command                           | how hot is steam?           | the chat               |
        | a mention in a topic                | is it running?              | the topic of the group |
        | a button with the value c:1:approve | c:1:approve                 | the chat               |

    Scenario Outline: A group that becomes a supergroup goes on, told by <update>
      Given a bot that echoes in the group alone
      And something was said in the group
      When the platform posts <update>
      And the platform posts a mention in the supergroup
      Then "is it running?" is written to the supergroup
      And what was said in the group was said in the supergroup

      Examples:
        | update                        |
        | that the group is no more     |
        | that the supergroup was made  |

    Scenario: A message of the group that comes after the supergroup was made
      Given a bot that echoes
      When the platform posts that the group is no more
      And the platform posts a mention in the group
      Then "is it running?" is written to the group
      And it belongs to the conversation of the supergroup

    Scenario: A button of a program stops waiting
      Given a bot that echoes
      When the platform posts a button with the value c:1:approve
      Then its button stops waiting

    Scenario Outline: <command> gets a greeting
      Given a bot that echoes
      When the platform posts <command>
      Then "Hello! Send me a message, a question or a file, and I will answer here." is written to the chat

      Examples:
        | command |
        | /start  |
        | /help   |

    Scenario Outline: <event> is handed on
      Given a bot that echoes
      When the platform posts <event>
      Then "<answer>" is written to the chat

      Examples:
        | event                           | answer     |
        | /start with a payload of a link | invite42   |
        | the data of a web app           | size-large |

    Scenario: Who is not served is not invited either
      Given a bot that echoes for verified users alone
      When the platform posts /start
      Then "Only verified users are served here. Verify your identity at https://agents.example/console/identities and write again." is written to the chat

  Rule: An update that comes again is not answered again

    Scenario: The same update twice
      Given a bot that echoes
      When the platform repeats a message
      Then it is acknowledged with nothing
      And it is written once

  Rule: Without the secret nothing is accepted

    Scenario: A forged update
      Given a bot that echoes
      When somebody else posts a message
      Then the call is refused as "not known"
      And nobody is asked

  Rule: What nobody said to the bot is acknowledged and ignored

    Scenario Outline: Ignored: <update>
      Given a bot that echoes
      When the platform posts <update>
      Then it is acknowledged with nothing
      And nobody is asked

      Examples:
        | update                             |
        | a message of another bot           |
        | a note that somebody joined        |
        | a button of a message elsewhere    |
        | a search for the bot's suggestions |

  Rule: A platform that asks to wait is not written to earlier

    Scenario: Too many messages
      Given a bot that echoes
      And the platform asks to wait 1 second once it is written to
      When the platform posts a message
      Then "When does the engine stop?" is written to the chat
      And it is written once
