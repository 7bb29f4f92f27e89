@s2.3 @s4.2 @s5
Feature: Channel instances
  A user binds a channel to a resource by making an instance of it.

  Rule: An instance is stored and given back exactly as it was configured

    Scenario: A new instance
      When ann creates the http-webhook "Support" bound to "agent::echo"
      Then it is created
      And ann's instances are "Support"
      And the instance shows its channel "http-webhook" named "HTTP webhook", its owner ann and the status "active"

    Scenario: Numbers, key order and unknown fields stay as they were
      When ann creates an http-webhook with numbers, lists and unknown fields in its configuration
      Then the configuration comes back as it was

  Rule: Among active instances the triple of user, name and channel is unique

    Scenario: The same triple twice
      Given ann has the http-webhook "Support"
      When ann creates the http-webhook "Support" bound to "agent::echo"
      Then the answer is "conflict"

    Scenario: Another user may use the same name
      Given ann has the http-webhook "Support"
      When bob creates the http-webhook "Support" bound to "agent::echo"
      Then it is created

    Scenario: Renaming into a taken triple
      Given ann has the http-webhook "Support"
      And ann has the http-webhook "Sales"
      When ann renames "Sales" to "Support"
      Then the answer is "conflict"

    Scenario: A deleted name is free again
      Given ann has the http-webhook "Support"
      When ann deletes "Support"
      And ann creates the http-webhook "Support" bound to "agent::echo"
      Then it is created

  Rule: Creating with the id of an instance updates it

    Scenario: The id of an own instance
      Given ann has the http-webhook "Support"
      When ann creates an instance with the id of "Support" and the name "Help desk"
      Then the answer is "done"
      And the operation is "updated"
      And ann's instances are "Help desk"

    Scenario: The id of another user's instance
      Given ann has the http-webhook "Support"
      When bob creates an instance with the id of "Support" and the name "Mine now"
      Then the answer is "forbidden"

    Scenario: An id that names nothing
      When ann creates an instance with an id that names nothing
      Then it is created
      And the operation is "created"

  Rule: Only its creator may touch an instance

    Scenario Outline: Another user tries to <act>
      Given ann has the http-webhook "Support"
      When bob tries to <act> "Support"
      Then the answer is "forbidden"
      And ann's instances are "Support"

      Examples:
        | act    |
        | read   |
        | update |
        | delete |
        | pair   |

    Scenario: Each sees only its own
      Given ann has the http-webhook "Support"
      And bob has the http-webhook "Sales"
      Then ann's instances are "Support"
      And bob's instances are "Sales"

    Scenario: An admin may act on everything
      Given ann has the http-webhook "Support"
      When admin tries to delete "Support"
      Then the answer is "done"

  Rule: A wrong configuration is refused, and every field at fault is named

    Scenario: Several faults at once
      When ann creates an email instance with a port as text, a port out of range, an empty host and a sender that is no address
      Then the answer is "invalid"
      And the error names "config.smtpPort", "config.imapHost", "config.imapPort" and "config.fromEmail"
      And ann has no instances

    Scenario Outline: A fault in <channel>: <field>
      When ann creates a <channel> instance that is right but for <field>, which is <value>
      Then the answer is "invalid"
      And the error names "config.<field>"

      Examples:
        | channel                 | field               | value                |
        | bot-messenger           | parseMode           | "Word"               |
        | bot-messenger           | accessMode          | "friends"            |
        | gaming-chat             | publicKey           | "abc"                |
        | community-chat          | SERVER_URL          | "chat.example.com"   |
        | sms-provider            | providerPhoneNumber | "0123"               |
        | linked-device-messaging | phoneNumber         | "call me"            |
        | cron                    | cronSchedule        | "* * * *"            |
        | cron                    | cronSchedule        | "61 * * * *"         |
        | cron                    | timezone            | "Mars/Olympus"       |
        | cron                    | enabled             | "yes"                |
        | erp-events              | events              | "create,explode"     |
        | http-webhook            | responseHeaders     | "X-Team: support"    |
        | web-chat                | allowedOrigins      | "shop.example.com"   |
        | web-chat                | colour              | "blue"               |
        | web-chat                | identitySecret      | "short"              |
        | http-webhook            | messageField        | "data..message"      |
        | http-webhook            | webhookSecret       | "whsec_!!!"          |
        | http-webhook            | webhookSecret       | "whsec_ü"            |
        | http-webhook            | webhookSecret       | "whsec_"             |
        | email                   | checkInterval       | 0                    |
        | drive-folder            | webhookUrl          | "ftp://example.com"  |

    Scenario Outline: <what> in the configuration
      When ann creates <an instance> with <what>
      Then the answer is "invalid"
      And the error names "config.<field>"

      Examples:
        | an instance              | what                        | field           |
        | an http-webhook instance | headers nested 9000 deep    | responseHeaders |
        | an http-webhook instance | a header of 5000 digits     | responseHeaders |
        | an email instance        | a port of 400 digits        | smtpPort        |

    Scenario: A channel that nobody knows
      When ann creates a pigeon-post instance without a configuration
      Then the answer is "invalid"
      And the error names "channelId"

    Scenario: What should be given and is not, is said
      When ann creates an enterprise-chat instance without a configuration
      Then it is created
      And the message mentions "webhookUrl"
      And the instance's health mentions "webhookUrl"

  Rule: Pairing is for channels that pair

    @grpc
    Scenario: A channel without pairing
      Given ann has the http-webhook "Support"
      When ann tries to pair "Support"
      Then the answer is "invalid"
