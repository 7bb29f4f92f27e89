Feature: Ways of notifications
  Mails and messages tell those who do not look at the console.

  Background:
    Given a bot of ann whose resource asks for a person with "One moment"
    And bob has the address bob@example.com, and may answer on the bot

  Scenario Outline: Each kind comes by mail
    Given bob wants mail about "<kind>"
    When it happens that "<kind>"
    Then bob gets the mail "<subject>"

    Examples:
      | kind      | subject                                               |
      | wanted    | Somebody is wanted in a conversation on bot-messenger. |
      | assigned  | ann assigned a conversation on bot-messenger to you.  |
      | mentioned | ann mentioned you in a note on bot-messenger.         |
      | approval  | The tool refund waits for an approval on bot-messenger. |
      | unhealthy | bot-messenger does not work: sending fails.           |
      | healthy   | bot-messenger works again.                            |
      | budget    | 80 % of the budget of bob for this month are spent.   |

  Scenario Outline: Each kind comes as a message
    Given bob wants messages about "<kind>" to bert's conversation with the bot
    When it happens that "<kind>"
    Then bert's conversation gets "<text>" once

    Examples:
      | kind      | text                                                  |
      | wanted    | Somebody is wanted in a conversation on bot-messenger. |
      | assigned  | ann assigned a conversation on bot-messenger to you.  |
      | mentioned | ann mentioned you in a note on bot-messenger.         |
      | approval  | The tool refund waits for an approval on bot-messenger. |
      | unhealthy | bot-messenger does not work: sending fails.           |
      | healthy   | bot-messenger works again.                            |
      | budget    | 80 % of the budget of bob for this month are spent.   |

  Scenario: The mail leads to the conversation, and tells nothing of it
    Given bob wants mail about "wanted"
    When ada writes "my secret"
    Then the mail to bob leads to the conversation
    And no mail holds "my secret"

  Scenario: Nothing is sent about other kinds
    Given bob wants mail about "unhealthy"
    When ada writes "help"
    Then bob is notified: "Somebody is wanted in a conversation on bot-messenger."
    And bob gets no mail

  Scenario Outline: One mail tells of all of an hour or a day
    Given bob wants a mail each <pace> about "wanted"
    When ada writes "help"
    And bert writes "help"
    Then bob gets no mail
    When a <pace> passes
    Then bob gets the mail "2 notifications"
    And the mail tells of both conversations

    Examples:
      | pace |
      | hour |
      | day  |

  Scenario: What was read meanwhile is not mailed
    Given bob wants a mail each hour about "wanted"
    When ada writes "help"
    And bob reads all
    And a hour passes
    Then bob gets no mail

  Scenario: What was decided meanwhile is not mailed
    Given bob wants a mail each hour about "approval"
    When a tool waits for bob's approval
    And somebody decides
    And a hour passes
    Then bob gets no mail

  Scenario: Mails and messages wait for the working hours
    Given bob works from 09:00 to 17:00
    And bob wants mail about "wanted"
    And it is 18:30
    When ada writes "help"
    Then bob is notified: "Somebody is wanted in a conversation on bot-messenger."
    And bob gets no mail
    When it becomes 09:01 on the next day
    Then bob gets the mail "Somebody is wanted in a conversation on bot-messenger."

  Scenario: A mail server that is away is tried again
    Given bob wants mail about "wanted"
    And the mail server is away
    When ada writes "help"
    Then bob gets no mail
    When the mail server is back
    And some minutes pass
    Then bob gets the mail "Somebody is wanted in a conversation on bot-messenger."

  Scenario: A permission that ends meanwhile ends mails and messages
    Given bob wants a mail each hour about "wanted"
    When ada writes "help"
    And bob loses the permission
    And a hour passes
    Then bob gets no mail

  Scenario: Messages end with the permission to send them
    Given ann has another bot, which bob may answer on
    And bob wants messages about "wanted" by the other bot
    And bob loses the permission on the other bot
    When ada writes "help"
    Then bob is notified: "Somebody is wanted in a conversation on bot-messenger."
    And the other bot sends nothing

  Scenario: Somebody who is suspended meanwhile gets no mail
    Given bob wants a mail each hour about "wanted"
    When ada writes "help"
    And bob is suspended
    And a hour passes
    Then bob gets no mail

  @grpc
  Scenario: Settings are checked
    Then bob sees and changes his settings
    And these settings of bob are refused
      | settings                             | because                        |
      | messages without an instance         | notifyVia: is required         |
      | messages by an instance of nobody    | there is no instance           |
      | messages by an instance of another   | belongs to another user        |
      | a language that nobody speaks here   | language: must be one of       |
      | hours that end when they begin       | hours.to: must not be the same |
      | mail without an address, by carl     | you have no e-mail address     |
    And the audit log tells what bob has set

  Scenario: Another language
    Given bob reads German
    When ada writes "help"
    Then bob is notified: "In einer Unterhaltung auf bot-messenger wird jemand gebraucht."

  Scenario: A language of the same catalogue
    Given bob reads British English
    When ada writes "help"
    Then bob is notified: "Somebody is wanted in a conversation on bot-messenger."
