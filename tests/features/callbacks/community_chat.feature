@s4.3 @s5 @s6
Feature: Mattermost
  People talk to a resource in a Mattermost channel.

  Rule: What a person writes is answered in the same channel

    Scenario Outline: Answered: <update>
      Given a bot that echoes
      When the platform posts <update>
      Then it is acknowledged with an empty reply
      And "<answer>" is written to <place>

      Examples:
        | update                                    | answer                   | place                     |
        | a post in the usual form                  | ask what is on the menu? | the channel               |
        | a post as a web form                      | what is on the menu?     | the channel               |
        | a slash command                           | for tomorrow             | the command's own address |
        | a command that names an address elsewhere | for tomorrow             | the channel               |
        | a post without a channel                  | ask what is on the menu? | the configured channel    |

  Rule: A post that comes again is not answered again

    Scenario: The same post twice
      Given a bot that echoes
      When the platform repeats a post in the usual form
      Then it is acknowledged with an empty reply
      And it is written once

  Rule: The token of the payload must be one of the two that are configured

    Scenario: A forged post
      Given a bot that echoes
      When somebody else posts a post in the usual form
      Then the call is refused as "not known"
      And nobody is asked

    Scenario: The token of the API is one of them
      Given a bot that echoes
      When the platform posts a post with the token of the API
      Then "ask what is on the menu?" is written to the channel

  Rule: What nobody said to the bot is acknowledged and ignored

    Scenario Outline: Ignored: <update>
      Given a bot that echoes
      When the platform posts <update>
      Then it is acknowledged with an empty reply
      And nobody is asked

      Examples:
        | update                   |
        | a post of the bot itself |
        | an empty post            |

  Rule: Two bots do not answer each other for ever

    Scenario: A post of another bot
      Given a bot that echoes
      When the platform posts a post of another bot
      And the platform posts a post as a web form
      Then "what is on the menu?" is written to the channel
      And it is written once

  Rule: A person opens a closed conversation again, another bot does not

    Scenario: Posts in the thread of a closed conversation
      Given a bot that echoes
      When the platform posts a post in a thread
      And the conversation is closed once it is answered
      And the platform posts a post of another bot in the thread
      Then the conversation is still closed once that is worked on
      When the platform posts a later post in the thread
      Then the conversation is open again once that is worked on

  Rule: What the bot posted is no message, whoever seems to have posted it

    Scenario: An answer that comes back in the name of a person
      Given a bot that echoes
      When the platform posts a post in the usual form
      And the answer is on record as sent
      And the platform posts the bot's answer as a person's post
      Then it is acknowledged with an empty reply
      And nothing else is asked

  Rule: A platform that asks to wait is not written to earlier

    Scenario: Too many posts
      Given a bot that echoes
      And the platform asks to wait 1 second once it is written to
      When the platform posts a post as a web form
      Then "what is on the menu?" is written to the channel
      And it is written once
