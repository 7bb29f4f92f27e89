@s4.3 @s5 @s6
Feature: Slack
  People talk to a resource in a Slack workspace.

  Rule: Slack's check of the address is answered with the challenge

    Scenario: The challenge
      Given a bot that echoes
      When the platform posts a check of the address
      Then Slack is told its own challenge
      And nobody is asked

  Rule: Mentions, direct messages and buttons are answered where they stand

    Scenario Outline: Answered: <event>
      Given a bot that echoes
      When the platform posts <event>
      Then it is acknowledged with nothing
      And "<answer>" is written to <place>

      Examples:
        | event                               | answer       | place           |
        | a mention in a thread               | and now, ?   | the thread      |
        | a direct message                    | Good morning | the direct chat |
        | a button with the value c:1:approve | c:1:approve  | the thread      |

  Rule: Each chat with the agent is a conversation of its own

    Scenario: Two chats of one person
      Given a bot that echoes
      When the platform posts a message in a chat with the agent
      And the platform posts a message in another chat with the agent
      Then "Good morning" is written to the chat with the agent
      And "Good evening" is written to the other chat with the agent
      And these are two conversations

    Scenario: A chat whose start Slack tells
      Given a bot that echoes
      When the platform posts that a chat with the agent was opened
      And the platform posts a message in a thread of direct messages
      And the platform posts a direct message
      Then "Good night" is written to the chat with the agent
      And "Good morning" is written to the direct chat
      And these are two conversations

    Scenario: An ordinary thread of direct messages
      Given a bot that echoes
      When the platform posts a message in a thread of direct messages
      And the platform posts a direct message
      Then "Good morning" is written to the direct chat
      And this is one conversation

  Rule: A shortcut is answered where its message stands, a global one by direct message

    Scenario Outline: <event> is answered
      Given a bot that echoes
      When the platform posts <event>
      Then it is acknowledged with nothing
      And "<answer>" is written to <place>

      Examples:
        | event                   | answer                        | place           |
        | a global shortcut       | open                          | the direct chat |
        | a shortcut of a message | The server is down since noon | the thread      |

    Scenario: What a person writes after a global shortcut continues its conversation
      Given a bot that echoes
      When the platform posts a global shortcut
      And the platform posts a direct message
      Then "open" is written to the direct chat
      And "Good morning" is written to the direct chat
      And this is one conversation

    Scenario Outline: A forged call of <event>
      Given a bot that echoes
      When somebody else posts <event>
      Then the call is refused as "not known"
      And nobody is asked

      Examples:
        | event                   |
        | a global shortcut       |
        | a shortcut of a message |

  Rule: A slash command is acknowledged to its sender alone and answered later

    Scenario: A slash command
      Given a bot that echoes
      When the platform posts a slash command
      Then Slack is told to show "Working on it…" to the sender alone
      And "how hot is steam?" is written to its response address

  Rule: What arrives twice is answered once

    Scenario Outline: <event> twice
      Given a bot that echoes
      When the platform repeats <event>
      Then it is written once

      Examples:
        | event            |
        | a direct message |
        | a slash command  |

    Scenario: A mention comes as two events
      Given a bot that echoes
      When the platform posts a mention
      And the platform posts the message of that mention
      Then it is written once

  Rule: Without Slack's signature nothing is accepted

    Scenario: A forged event
      Given a bot that echoes
      When somebody else posts a direct message
      Then the call is refused as "not known"
      And nobody is asked

  Rule: What nobody said to the bot is acknowledged and ignored

    Scenario Outline: Ignored: <event>
      Given a bot that echoes
      When the platform posts <event>
      Then it is acknowledged with nothing
      And nobody is asked

      Examples:
        | event                       |
        | a message to somebody else  |
        | a message of another bot    |
        | a message of the bot itself |
        | a change of a message       |
        | a deleted message           |
        | an added reaction           |

  Rule: An answer that takes its time is shown while it is made, in one message

    Scenario: A long answer grows where it will stand
      Given a bot whose resource answers piece by piece
      When the platform posts a mention in a thread
      Then "Steam is …" is shown in the thread
      And "Steam is *hot*." takes its place

    Scenario: An answer at once is not shown before
      Given a bot that echoes
      When the platform posts a direct message
      Then "Good morning" is written to the direct chat
      And nothing of it was changed

  Rule: What the bot posted is no message, whoever seems to have posted it

    Scenario: An answer that comes back in the name of a person
      Given a bot that echoes
      When the platform posts a direct message
      And the answer is on record as sent
      And the platform posts the bot's answer as a person's message
      Then nothing else is asked

  Rule: A platform that asks to wait is not written to earlier

    Scenario: Too many messages
      Given a bot that echoes
      And the platform asks to wait 1 second once it is written to
      When the platform posts a direct message
      Then "Good morning" is written to the direct chat
      And it is written once
