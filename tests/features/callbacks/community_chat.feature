@s4.3 @s5 @s6
Feature: Mattermost
  People talk to a resource in a Mattermost channel.

  Rule: What a person writes is answered in the same channel

    Scenario Outline: <what>
      Given a bot that echoes
      When the platform posts <update>
      Then it is acknowledged with an empty answer
      And "<answer>" is written to <place>

      Examples:
        | what                     | update                | answer                   | place                         |
        | a post as JSON           | outgoing_webhook      | ask what is on the menu? | c4n8hq2xw7z1m5kfr9ty3bdjpa    |
        | a post as a form         | outgoing_webhook_form | what is on the menu?     | c4n8hq2xw7z1m5kfr9ty3bdjpa    |
        | a slash command          | slash_command         | for tomorrow             | response_url                  |
        | a command from elsewhere | foreign_response_url  | for tomorrow             | c4n8hq2xw7z1m5kfr9ty3bdjpa    |
        | a post without a channel | without_channel       | ask what is on the menu? | d4n8hq2xw7z1m5kfr9ty3bdjpa    |

  Rule: A post that comes again is not answered again

    Scenario: The same post twice
      Given a bot that echoes
      When the platform repeats outgoing_webhook
      Then it is acknowledged with an empty answer
      And it is written once

  Rule: The token of the payload must be one of the two that are configured

    Scenario: A forged post
      Given a bot that echoes
      When somebody else posts outgoing_webhook
      Then the call is refused as "not known"
      And nobody is asked

    Scenario: The token of the API is one of them
      Given a bot that echoes
      When the platform posts with_the_api_token
      Then "ask what is on the menu?" is written to c4n8hq2xw7z1m5kfr9ty3bdjpa

  Rule: What nobody said to the bot is acknowledged and ignored

    Scenario Outline: <update>
      Given a bot that echoes
      When the platform posts <update>
      Then it is acknowledged with an empty answer
      And nobody is asked

      Examples:
        | update   |
        | own_post |
        | empty    |

  Rule: Two bots do not answer each other for ever

    Scenario: A post of another bot
      Given a bot that echoes
      When the platform posts other_bots_post
      And the platform posts outgoing_webhook_form
      Then "what is on the menu?" is written to c4n8hq2xw7z1m5kfr9ty3bdjpa
      And it is written once

  Rule: What the bot posted is no message, whoever seems to have posted it

    Scenario: An answer that comes back in the name of a person
      Given a bot that echoes
      When the platform posts outgoing_webhook
      And the answer is on record as sent
      And the platform posts own_answer_of_a_person
      Then it is acknowledged with an empty answer
      And nothing else is asked

  Rule: A platform that asks to wait is not written to earlier

    Scenario: Too many posts
      Given a bot that echoes
      And the platform asks to wait 1 second once it is written to
      When the platform posts outgoing_webhook_form
      Then "what is on the menu?" is written to c4n8hq2xw7z1m5kfr9ty3bdjpa
      And it is written once
