@s3.1
Feature: What people see while an answer is being made
  The sign that somebody is writing stays until the answer is there, and no sign stays where none comes.

  Rule: The sign that somebody is writing is repeated before it ends

    Scenario Outline: A resource takes its time on <platform>
      Given a bot on <platform> whose resource takes its time
      When "ada" writes "hello"
      Then the platform is asked to show that somebody is writing
      When <seconds> seconds pass
      Then the platform is asked to show that once more
      When <seconds> seconds pass
      Then the platform is asked to show that once more
      When the resource answers
      And 60 seconds pass
      Then the platform is not asked to show that again

      Examples:
        | platform   | seconds |
        | Telegram   | 4       |
        | Discord    | 8       |
        | Teams      | 3       |
        | WhatsApp   | 20      |
        | Mattermost | 4       |

    Scenario Outline: <platform> does not want to show it
      Given a bot on <platform> whose resource takes its time
      And the platform refuses to show that somebody is writing
      When "ada" writes "hello"
      Then the platform is asked to show that somebody is writing
      When 60 seconds pass
      Then the platform is not asked to show that again
      When the resource answers
      Then the answer arrives

      Examples:
        | platform   |
        | Telegram   |
        | Discord    |
        | Teams      |
        | WhatsApp   |
        | Mattermost |

    Scenario Outline: <platform> does not answer when it is asked to show it
      Given a bot on <platform> whose resource takes its time
      And the platform does not answer when it is asked to show that somebody is writing
      When "ada" writes "hello"
      And the resource answers
      Then the answer arrives

      Examples:
        | platform   |
        | Telegram   |
        | Discord    |
        | Teams      |
        | WhatsApp   |
        | Mattermost |

    Scenario Outline: A resource on <platform> fails after a while
      Given a bot on <platform> whose resource takes its time
      When "ada" writes "hello"
      Then the platform is asked to show that somebody is writing
      When the resource fails
      Then "Sorry, I could not get an answer just now" arrives
      When 60 seconds pass
      Then the platform is not asked to show that again

      Examples:
        | platform   |
        | Telegram   |
        | Discord    |
        | Teams      |
        | WhatsApp   |
        | Mattermost |

  Rule: A command without an answer does not go on waiting

    Scenario Outline: <why> on Discord
      Given a bot on Discord <that>
      When "ada" gives the command "hello"
      Then the bot stops thinking

      Examples:
        | why                          | that                                                     |
        | An empty answer              | whose resource answers nothing                           |
        | A person who was told before | for verified users alone, of which "ada" has been told   |

    Scenario: The answer arrives after all that was shown
      Given a bot on Discord whose resource answers "done"
      When "ada" gives the command "hello"
      Then the answer takes the place of thinking

    Scenario: Discord does not take the answer
      Given a bot on Discord whose resource answers "done"
      And the platform refuses the answer
      When "ada" gives the command "hello"
      Then the bot stops thinking

    Scenario: A typed decision by a command that leads to no text
      Given a bot on Discord that asks before it uses a tool and then answers nothing
      When "ada" gives the command "use it"
      And the question has arrived, "ada" gives the command "yes"
      Then the bot stops thinking

    Scenario: The instance is removed while its resource works, on Discord
      Given a bot on Discord whose resource takes its time
      When "ada" gives the command "hello"
      And the instance is removed
      Then the bot stops thinking

    Scenario: The instance is removed while its resource works, on Slack
      Given a bot on Slack whose resource takes its time
      When "ada" gives the command "hello"
      And the instance is removed
      Then "ada" alone is told "Done. There is no answer to show."

    Scenario Outline: <why> on Slack
      Given a bot on Slack <that>
      When "ada" gives the command "hello"
      Then "ada" alone is told "Done. There is no answer to show."

      Examples:
        | why                          | that                                                     |
        | An empty answer              | whose resource answers nothing                           |
        | A person who was told before | for verified users alone, of which "ada" has been told   |

  Rule: A pressed button does not go on waiting

    Scenario Outline: <why> on Telegram
      Given a bot on Telegram <that>
      When "ada" presses a button "<value>"
      Then the press is answered once

      Examples:
        | why                          | that                                                   | value               |
        | A person who was told before | for verified users alone, of which "ada" has been told | a                   |
        | No resource                  | without a resource                                     | a                   |
        | A resource that fails        | whose resource fails                                   | a                   |
        | A resource answers nothing   | whose resource answers nothing                         | a                   |
        | A button of nobody knows     | whose resource answers nothing                         | approval:1:whatever |
