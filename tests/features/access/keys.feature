Feature: API keys and sessions
  Programs call with API keys. People who use the console open a session with a key or with a link.

  Rule: Users make and revoke their own keys

    Scenario: A key of one's own
      When ann makes a key called "Nightly export"
      Then the new key works, and it is ann's
      And ann's list names "Nightly export" and shows no key whole

    Scenario: A key that is revoked
      Given ann makes a key called "Nightly export"
      When ann revokes that key
      Then the new key works no longer
      And ann's list says that "Nightly export" was revoked

    Scenario: A key that expires
      Given ann makes a key that expires in 30 days
      When 31 days pass
      Then the new key works no longer

    Scenario Outline: What a user may not make: <what>
      When ann makes <what>
      Then that is forbidden

      Examples:
        | what                      |
        | a key with the role admin |
        | a key for bob             |

    Scenario: Other people's keys
      Given ann makes a key called "Nightly export"
      When bob revokes that key
      Then that is forbidden
      And bob's list does not name "Nightly export"

    Scenario: An admin makes keys for anybody
      When admin makes a key for bob
      Then the new key works, and it is bob's

    Scenario: An admin revokes the keys of anybody
      Given ann makes a key called "Nightly export"
      When admin revokes that key
      Then the new key works no longer

    Scenario: A key that nobody has
      When ann revokes a key that does not exist
      Then that is not found

    Scenario Outline: A key with <mistake>
      When ann makes a key with <mistake>
      Then that is refused, naming "<field>"

      Examples:
        | mistake             | field         |
        | a name of 101 signs | name          |
        | no day of life      | expiresInDays |
        | another kind of role | role          |
        | a misspelt end of life | expiresInDay |

    Scenario: A long list comes in pages
      Given ann makes 3 keys
      Then ann reads all her keys 2 at a time

  Rule: A key ends with what made it

    Scenario: Without a day of its own
      Given ann makes a key that expires in 30 days
      When that key makes another one
      Then the other key expires with it

    Scenario: Before it
      Given ann makes a key that expires in 30 days
      When that key makes another one that expires in 20 days
      Then the other key expires in 20 days

    Scenario Outline: Not after it
      Given ann makes a key that expires in 30 days
      When <time> pass
      And that key makes another one that expires in <days> days
      Then that is refused, naming "expiresInDays"

      Examples:
        | time     | days |
        | 0 days   | 31   |
        | 1 days   | 30   |
        | 29 days  | 365  |

    Scenario: The first of three keys is revoked
      Given ann makes a key called "Nightly export"
      And that key makes another one
      And the other key makes a third one
      When ann revokes the first of them
      Then none of the three works any longer
      And ann's key still works

    @grpc
    Scenario: A session makes no lasting key
      Given ann signs in with her key
      When her session makes a key
      Then the other key expires with her session

    @grpc
    Scenario Outline: A session that is over takes its keys with it
      Given ann signs in with her key
      And her session makes a key
      When <end>
      Then the other key works no longer
      And her key still works

      Examples:
        | end                             |
        | ann signs out                   |
        | ann ends that session by its id |

    Scenario: The session of a link of a key that expires
      Given ann has a key that expires in 2 days alone
      And a link for ann
      When ann follows the link
      And her session makes a key
      Then the other key expires in 2 days

  Rule: A session is no key

    Scenario: A program with the token of a session
      Given ann signs in with her key
      Then her session works in the console, and nowhere as an API key

  Rule: A session ends with the key that opened it

    Scenario: Signing in with a key
      When ann signs in with her key
      Then her session works, and it is ann's
      And her session is in the list of her sessions

    Scenario: Signing out
      Given ann signs in with her key
      When ann signs out
      Then her session works no longer
      And her key still works

    Scenario: The key is revoked
      Given ann signs in with her key
      When ann's key is revoked
      Then her session works no longer

    Scenario: A session is not for ever
      Given ann signs in with her key
      When 8 days pass
      Then her session works no longer

    Scenario: One session is ended from elsewhere
      Given ann signs in with her key
      When ann ends that session by its id
      Then her session works no longer
      And her key still works

    Scenario: A session opens no other
      Given ann signs in with her key
      When somebody signs in with ann's session
      Then that is refused with what to do

  Rule: A link signs in once

    Scenario: Signing in by a link
      Given a link for ann
      When ann follows the link
      Then her session works, and it is ann's

    Scenario: The same link again
      Given a link for ann
      And ann follows the link
      When somebody follows the link again
      Then that is refused with what to do

    Scenario: A link that is too old
      Given a link for ann
      When 2 hours pass
      And ann follows the link
      Then that is refused with what to do

    Scenario: The link of a user whose key is revoked
      Given a link for ann, who has a key
      And ann follows the link
      When ann's key is revoked
      Then her session works no longer

    Scenario: A link is no key
      Given a link for ann
      Then the link does not work as a key

    Scenario: The first link of a new installation is an admin's
      Given the link that is printed at the start
      When the link is followed
      Then the session is that of the admin "admin"

  Rule: Guessing is slowed down

    Scenario: Too many wrong keys
      Given 20 wrong keys came from one address
      When a wrong key comes from that address
      Then its sender is told to wait
      But a wrong key from another address is only told to be wrong

    Scenario: Another address of the same host
      Given 20 wrong keys came from many addresses of one host
      When a wrong key comes from a further address of that host
      Then its sender is told to wait

    Scenario: After some minutes it goes on
      Given 20 wrong keys came from one address
      When 16 minutes pass
      Then a wrong key from that address is only told to be wrong

  Rule: Wrong keys of others keep nobody out

    Scenario: A right key from an address of many wrong ones
      Given 30 wrong keys came from one address
      When ann signs in with her key from that address
      Then her session works, and it is ann's

    @grpc
    Scenario: A link from an address of many wrong keys
      Given 30 wrong keys came from one address
      And a link for ann
      When ann follows the link
      Then her session works, and it is ann's

    Scenario: Right keys are not counted
      Given 19 wrong keys came from one address
      When ann signs in 25 times with her key
      Then a wrong key from that address is only told to be wrong

  Rule: Nothing of old sessions is kept

    Scenario: Cleaning up
      Given ann signs in with her key
      And a link for ann
      And 20 wrong keys came from one address
      When all of that expired long ago
      And the service cleans up
      Then only ann's key is on record
