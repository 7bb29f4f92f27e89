@s4.3 @s5 @s6
Feature: Discord
  People talk to a resource on Discord.

  Rule: Each type of interaction gets the acknowledgement that Discord expects

    Scenario: A ping
      Given a bot that echoes
      When the platform posts a ping
      Then Discord is told that the ping arrived
      And nobody is asked

    Scenario Outline: Answered: <interaction>
      Given a bot that echoes
      When the platform posts <interaction>
      Then Discord is told <reply>
      And "<answer>" is written to <place>

      Examples:
        | interaction                         | reply                           | answer            | place                |
        | a command                           | that the answer follows         | how hot is steam? | the command's answer |
        | a direct command                    | that the answer follows         | hello             | the command's answer |
        | a button with the value c:1:approve | that the message stays as it is | c:1:approve       | a follow-up          |
        | two chosen options                  | that the message stays as it is | f, c              | a follow-up          |
        | a submitted form                    | that the answer follows         | name: Ada         | the command's answer |

  Rule: Messages that a forwarder hands on are answered in their channel, without mention tags

    Scenario Outline: Answered: <message>
      Given a bot that echoes
      When the platform posts <message>
      Then it is acknowledged with nothing
      And "<answer>" is written to <place>

      Examples:
        | message          | answer                    | place           |
        | a mention        | is :steam: hot, @charles? | the channel     |
        | a direct message | Good morning              | the direct chat |

  Rule: An interaction that comes again is not answered again

    Scenario: The same interaction twice
      Given a bot that echoes
      When the platform repeats a command
      Then it is written once

  Rule: Without Discord's signature nothing is accepted

    Scenario Outline: A forged <interaction>
      Given a bot that echoes
      When somebody else posts <interaction>
      Then the call is refused as "not known"
      And nobody is asked

      Examples:
        | interaction |
        | a ping      |
        | a command   |

  Rule: What nobody said to the bot is acknowledged and ignored

    Scenario Outline: Ignored: <event>
      Given a bot that echoes
      When the platform posts <event>
      Then Discord is told <reply>
      And nobody is asked

      Examples:
        | event                       | reply                            |
        | a message to somebody else  | nothing                          |
        | a message of another bot    | nothing                          |
        | a message of the bot itself | nothing                          |
        | a half-typed command        | that there is nothing to suggest |

  Rule: A platform that asks to wait is not written to earlier

    Scenario: Too many messages
      Given a bot that echoes
      And the platform asks to wait 1 second once it is written to
      When the platform posts a command
      Then "how hot is steam?" is written to the command's answer
      And it is written once
