Feature: Kinds of messages
  People do more than write: they forward, share a place, order, send what nobody can read. Whatever they send reaches the
  resource, or they are told that it cannot be read.

  Rule: A forwarded message is handed on, also without a word of one's own

    Scenario Outline: A message is forwarded on <platform>
      Given somebody talks to a bot on <platform>
      When a forwarded message arrives
      Then the resource gets "" with the quoted message "The server is down since noon"
      And it is told that "<author>" wrote what was forwarded

      Examples:
        | platform                       | author  |
        | Slack                          | Bob     |
        | Slack, sent by a program       | Alerts  |
        | Discord                        | nobody  |
        | Teams                          | nobody  |
        | Teams, as a reference          | Bob     |

    Scenario Outline: A message of <origin> is forwarded on Telegram
      Given somebody talks to a bot on Telegram
      When a message of <origin> is forwarded
      Then the resource gets "The server is down since noon"
      And it is told that "<author>" wrote what was forwarded

      Examples:
        | origin          | author        |
        | a person        | Bob Ray       |
        | a hidden person | Bob in secret |
        | a channel       | Alerts        |

    Scenario: A message is forwarded on Teams with a comment
      Given somebody talks to a bot on Teams
      When a forwarded message with a comment arrives
      Then the resource gets "see this" with the quoted message "The server is down since noon"

    Scenario Outline: A person calls the bot below a message on <platform>
      Given somebody talks to a bot on <platform>
      When the bot alone is mentioned in reply to a message
      Then the resource gets "" with the quoted message "The server is down since noon"

      Examples:
        | platform |
        | Telegram |
        | Discord  |

  Rule: The address of a link is handed on with its label

    Scenario Outline: A link in <place>
      Given somebody talks to a bot on <platform>
      When a link arrives in <place>
      Then the resource gets "<text>"

      Examples:
        | platform | place                 | text                                                        |
        | Telegram | a text                | 😀 Read the article (https://example.com/post?a=1) and code |
        | Telegram | a caption             | 😀 Read the article (https://example.com/post?a=1) and code |
        | Telegram | a text that shows it  | See example.com now                                         |
        | Teams    | a message             | 😀 Read the article (https://example.com/post?a=1) and code |
        | Telegram | a button              | Build failed ; Log (https://ci.example/log)                 |

    Scenario: A link around a picture
      Given somebody talks to a bot on Teams
      When a link arrives around a picture
      Then the resource gets "look ; https://ci.example/log"

    Scenario: An address with the name of the bot does not address it
      Given somebody talks to a bot on Telegram
      When the name of the bot in an address arrives
      Then nobody is asked or told anything

    Scenario Outline: A program's card is forwarded on <platform>
      Given somebody talks to a bot on <platform>
      When a link arrives in a forwarded card
      Then the resource gets "" with the quoted message "<quoted>"

      Examples:
        | platform | quoted                                      |
        | Slack    | Build failed (https://ci.example/log)       |
        | Discord  | Build failed (https://ci.example/log)       |
        | Teams    | Build failed ; Log (https://ci.example/log) |

    Scenario: A program's card is replied to
      Given somebody talks to a bot on Discord
      When a link arrives in a card that is replied to
      Then the resource gets "Well?" with the quoted message "Build failed (https://ci.example/log)"

    Scenario Outline: A message that is nothing but <content> on <platform>
      Given somebody talks to a bot on <platform>
      When <message> arrives
      Then the resource gets "<text>"

      Examples:
        | platform | content | message             | text                                        |
        | Slack    | blocks  | a message of blocks | The server is down since noon               |
        | Teams    | a card  | a card of a program | Build failed ; Log (https://ci.example/log) |

    Scenario Outline: A link in <place> that is replied to
      Given somebody talks to a bot on <platform>
      When a link arrives in <place>
      Then the resource gets "Well?" with the quoted message "<quoted>"

      Examples:
        | platform | place              | quoted                                                      |
        | Telegram | a quoted message   | 😀 Read the article (https://example.com/post?a=1) and code |
        | Telegram | a quoted caption   | 😀 Read the article (https://example.com/post?a=1) and code |
        | Telegram | the marked words   | the article (https://example.com/post?a=1)                  |

  Rule: A message that the platform sends twice is one message with its files

    Scenario Outline: A mention with a file on Slack, <first>
      Given somebody talks to a bot on Slack
      When a mention with a file arrives twice, <first>
      Then the resource gets "look" once, with the file "engine.png"

      Examples:
        | first                   |
        | without the file first  |
        | with the file first     |

    Scenario: A mention that arrives twice without a file
      Given somebody talks to a bot on Slack
      When a mention without a file arrives twice
      Then the resource gets "look" once, without a file

  Rule: A place, a contact and an order are text

    Scenario Outline: <message> is shared on <platform>
      Given somebody talks to a bot on <platform>
      When <message> arrives
      Then the resource gets "<text>"
      And it is told the <key>

      Examples:
        | platform | message    | text                                            | key      |
        | Telegram | a location | Location: 51.5014, -0.1419                      | location |
        | Telegram | a venue    | Location: Works, Mill Lane 1 (51.5, -0.14)      | location |
        | Telegram | a contact  | Contact: Charles +441632960000                  | contact  |
        | WhatsApp | a location | Location: Works, Mill Lane 1 (51.5014, -0.1419) | location |
        | WhatsApp | a contact  | Contact: Charles B +44 1632 960002              | contact  |
        | WhatsApp | an order   | Order: with care ; - 2 x SKU-7 at 4.5 EUR       | order    |
        | SMS      | a location | Location: Works, Mill Lane 1 (51.5014, -0.1419) | location |

  Rule: Who sends what cannot be read is told so

    Scenario Outline: <message> on <platform>
      Given somebody talks to a bot on <platform>
      When <message> arrives
      Then nobody is asked, and the person is told "<notice>"

      Examples:
        | platform | message                      | notice                             |
        | Telegram | a poll                       | I cannot read polls.               |
        | Telegram | a checklist                  | I cannot read checklists.          |
        | Telegram | a story                      | I cannot read stories.             |
        | Telegram | paid media                   | I cannot read paid media.          |
        | Telegram | a poll in reply to the bot   | I cannot read polls.               |
        | WhatsApp | a poll                       | I cannot read this kind of message |
        | Discord  | a poll                       | I cannot read polls.               |
        | Discord  | a sticker                    | I cannot read stickers.            |
        | Discord  | a forwarded sticker          | I cannot read stickers.            |
        | Slack    | blocks alone                 | I cannot read this kind of message |
        | Teams    | a card                       | I cannot read this kind of message |
        | SMS      | a poll                       | I cannot read this kind of message |

    Scenario Outline: <message> on <platform> is for nobody
      Given somebody talks to a bot on <platform>
      When <message> arrives
      Then nobody is asked or told anything

      Examples:
        | platform | message                         |
        | Telegram | a message that was pinned       |
        | Telegram | a poll in a group               |
        | Telegram | a tick of a checklist           |
        | Telegram | a post of the channel of a group |

  Rule: Who writes under another name is a person, whom nobody knows

    Scenario Outline: <writer> on Telegram
      Given somebody talks to a bot on Telegram
      When <writer> asks "help" in a group
      Then the resource gets "help"
      And it comes from "<sender>", without an identity

      Examples:
        | writer                          | sender      |
        | an anonymous admin              | Engine room |
        | a person who writes as a channel | Alerts      |
