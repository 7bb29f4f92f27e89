Feature: Whose word counts for who a sender is
  Whoever knows the secrets of a channel, or runs the server behind it, can write to it in anybody's name. That is the
  owner of the channel, so this word counts for the owner alone, unless an admin trusts the channel.

  Rule: The owner's word counts for the owner alone

    Scenario Outline: Somebody writes to ann's channel on <platform>
      Given a channel of ann's on <platform>, and bob has verified who "bob" is there
      When "bob" writes there
      Then the resource is told that <who> writes, proved by the <proof>
      And the conversation is shown as one of <who>

      Examples: what the owner can sign
        | platform   | who    | proof |
        | Slack      | nobody | owner |
        | Discord    | nobody | owner |
        | Telegram   | nobody | owner |
        | WhatsApp   | nobody | owner |
        | Mattermost | nobody | owner |

      Examples: what Microsoft alone can sign
        | platform   | who    | proof    |
        | Teams      | bob    | platform |

    Scenario: The owner writes
      Given a channel of bob's on Mattermost, and bob has verified who "bob" is there
      When "bob" writes there
      Then the resource is told that bob writes, proved by the owner

    Scenario: A channel that serves verified users only
      Given a channel of ann's on Mattermost that serves verified users only, and bob has verified who "bob" is there
      When "bob" writes there
      Then the resource is not asked

    Scenario: A call that nobody can prove
      Given a channel of bob's on WhatsApp, and bob has verified who "bob" is there
      When bob removes the secret with which calls are signed
      And "bob" writes there
      Then the resource is told that nobody writes, proved by nobody

  Rule: An admin may trust a channel

    Scenario: A trusted channel
      Given a channel of ann's on Mattermost, and bob has verified who "bob" is there
      When an admin trusts the channel
      And "bob" writes there
      Then the resource is told that bob writes, proved by the owner
      And the conversation is shown as one of bob
      And the channel and its health say that it is trusted

    Scenario: Trusted no longer
      Given a channel of ann's on Mattermost, and bob has verified who "bob" is there
      When an admin trusts the channel, and then no longer
      And "bob" writes there
      Then the resource is told that nobody writes, proved by the owner
      And the health of the channel says whom it recognises

    Scenario: The owner is no admin
      Given a channel of ann's on Mattermost, and bob has verified who "bob" is there
      When ann trusts the channel
      Then that is forbidden, as only admins may

    Scenario: A change that has nothing to do with who writes leaves the trust as it is
      Given a channel of ann's on Mattermost, and bob has verified who "bob" is there
      When an admin trusts the channel
      And ann saves the channel with another name and other settings
      And "bob" writes there
      Then the resource is told that bob writes, proved by the owner

    Scenario Outline: <who> changes <what>, and changes it back
      Given a channel of ann's on <platform>, and bob has verified who "bob" is there
      When an admin trusts the channel
      And <who> changes the <what> of the channel
      Then <who> is told that the senders are no longer trusted
      When <who> changes the channel back
      And "bob" writes there
      Then the resource is told that nobody writes, proved by the owner

      Examples:
        | platform   | who      | what          |
        | Mattermost | ann      | SERVER_URL    |
        | Mattermost | an admin | SERVER_URL    |
        | Slack      | ann      | signingSecret |
        | WhatsApp   | ann      | appSecret     |
        | Discord    | ann      | publicKey     |

  Rule: A question is decided by whom it was asked of

    Scenario: The owner answers in the name of another user
      Given a trusted channel of ann's on Mattermost, and bob has verified who "bob" is there
      And "bob" was asked there whether a tool may run
      When the channel is trusted no longer
      And "yes" is written in the name of "bob"
      Then the tool is not used
