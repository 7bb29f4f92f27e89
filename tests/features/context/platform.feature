Feature: What a platform tells beside the words
  Platforms tell more of a message than its words. What an agent needs of it goes along to the resource.

  Rule: The resource gets what the platform tells

    Scenario Outline: <message> on <platform>
      Given a bot on <platform>
      When Ada sends <message>
      Then the resource is told the <key> "<value>"

      Examples:
        | platform | message                         | key     | value      |
        | WhatsApp | a press of a template's button  | payload | STOP       |
        | WhatsApp | a row of a list of another make | payload | row2       |
        | Discord  | a command on a message          | command | Explain    |
        | Telegram | a command                       | command | ask        |
        | Telegram | a start by a link               | payload | invite42   |
        | Telegram | a choice in a web app           | payload | size-large |
        | Slack    | a global shortcut               | command | open       |
        | Slack    | a shortcut of a message         | command | summarise  |

    Scenario: A form on Discord
      Given a bot on Discord
      When Ada sends a form
      Then the resource is told the platform with the customId "order"

    Scenario Outline: The ad from which a person comes, on <platform>
      Given a bot on <platform>
      When Ada sends a message from an ad with the headline "Summer sale"
      Then the resource is told the referral with the headline "Summer sale"

      Examples:
        | platform |
        | WhatsApp |

    Scenario: A message of which nothing more is known
      Given a bot on Telegram
      When Ada writes "Hello"
      Then the resource is told nothing more of it

  Rule: Buttons of the bot itself tell what was chosen, not what stands behind them

    Scenario: A choice that the bot offered
      Given a bot on WhatsApp that offers "Today" and "Tomorrow"
      And Ada asked "When?", and it answered
      When Ada presses "Tomorrow"
      Then the resource is asked "Tomorrow"
      And the resource is told nothing more of it
