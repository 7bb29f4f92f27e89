Feature: Rich answers
  A resource may answer with links, cards, a place and a contact. Each platform shows natively what it has, and the rest as text.

  Scenario Outline: Links, a card, a place and a contact on <platform>
    Given a resource that answers with two links, a card with a picture, a place and a contact
    When "ada" writes "order" to the bot alone on <platform>
    Then "ada" reads "Here you are", "Pump P7" and "20 EUR"
    And the link "https://shop.example/order" is shown <links>
    And the picture of the card is shown <picture>
    And the place is shown <place>
    And the contact is shown <contact>

    Examples:
      | platform   | links        | picture      | place        | contact      |
      | Slack      | as a button  | as a picture | as text      | as text      |
      | Discord    | as a button  | as a picture | as text      | as text      |
      | Teams      | as a button  | as a picture | as text      | as text      |
      | Telegram   | as a button  | as a picture | as a place   | as a contact |
      | WhatsApp   | as text      | as a picture | as a place   | as a contact |
      | Mattermost | as text      | as a picture | as text      | as text      |
      | SMS        | as text      | as a picture | as text      | as text      |

  Scenario Outline: A picture that only the own network can read is a link on <platform>
    Given a resource that answers with a card whose picture is at "http://10.1.2.3/p7.png"
    When "ada" writes "order" to the bot alone on <platform>
    Then the link "http://10.1.2.3/p7.png" is shown as text

    Examples:
      | platform   |
      | Slack      |
      | Discord    |
      | Teams      |
      | Telegram   |
      | WhatsApp   |
      | Mattermost |
      | SMS        |

  Scenario Outline: A card's title and fields are shown as they are written on <platform>
    Given a resource that answers with a card whose title and fields are "@all *50%* [off](https://a.example/x_y)"
    When "ada" writes "order" to the bot alone on <platform>
    Then the platform gets <written> for the name and the value of the field

    Examples:
      | platform   | written                                                                             |
      | Slack      | @all *\u200b50%* [off](https://a.example/x_y)                                       |
      | Discord    | @all \*50%\* \[off](https://a.example/x_y)                                         |
      | Teams      | @all \*50%\* \[off\]([https://a.example/x_y](https://a.example/x_y))               |
      | Telegram   | @all *50%* [off](https://a.example/x_y)                                             |
      | WhatsApp   | @all *\u200b50%* [off](https://a.example/x_y)                                       |
      | Mattermost | @\u200ball \*50%\* \[off\](https://a.example/x_y)                                 |
      | SMS        | @all *50%* [off](https://a.example/x_y)                                             |

  Scenario: One link is a button on WhatsApp
    Given a resource that answers with one link
    When "ada" writes "order" to the bot alone on WhatsApp
    Then the link "https://shop.example/order" is shown as a button

  Scenario Outline: As much as an answer may hold, on <platform>
    Given a resource that answers with as much as an answer may hold
    When "ada" writes "order" to the bot alone on <platform>
    Then the platform takes all of it

    Examples:
      | platform   |
      | Slack      |
      | Discord    |
      | Teams      |
      | Telegram   |
      | WhatsApp   |
      | Mattermost |
      | SMS        |

  Scenario Outline: No answer at all on <platform>
    Given a resource that answers with silence
    When "ada" writes "order" to the bot alone on <platform>
    Then nothing is sent to "ada"

    Examples:
      | platform |
      | Telegram |
      | SMS      |
