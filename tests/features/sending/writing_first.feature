Feature: Writing first on each platform
  Ann's instances write to people who have never written to them.

  Rule: A person's answer continues the conversation that a message began

    Scenario Outline: Writing first on <platform>
      Given ann has an instance of <platform>
      When ann sends "Welcome" to the person's address
      Then the message is accepted
      And the person reads "Welcome"
      When the person answers
      Then both are of one conversation

      Examples:
        | platform         |
        | Telegram         |
        | WhatsApp         |
        | text messages    |
        | Discord          |
        | Mattermost       |
        | Teams            |

  Rule: What the platform says against a conversation is told to who wants to begin it

    Scenario: A person who takes no messages of strangers
      Given ann has an instance of Discord
      And the person takes no messages of strangers
      When ann sends "Welcome" to the person's address
      Then it is refused with Discord's reason

    @grpc
    Scenario: A platform that is away for the moment
      Given ann has an instance of Discord
      And Discord fails for the moment
      When ann sends "Welcome" to the person's address
      Then ann is asked to try again later

    Scenario Outline: What is no address on <platform>
      Given ann has an instance of <platform>
      When ann sends "Welcome" to a mail address
      Then it is refused, as that is no address there
      When ann sends "Welcome" to the person's address with a second line
      Then it is refused because of the address
      When ann sends "Welcome" to an address of 1500 letters
      Then it is refused because of the address
      And nobody gets anything

      Examples:
        | platform         |
        | Telegram         |
        | WhatsApp         |
        | text messages    |
        | Discord          |
        | Mattermost       |
        | Teams            |
