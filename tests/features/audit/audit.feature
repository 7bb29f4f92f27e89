Feature: The audit log
  Admins see who changed what. Each entry is stored together with its change, and none can be changed unnoticed.

  Rule: An entry says who did what to which object

    @grpc
    Scenario: The configuration of an instance is changed
      Given ann has a webhook "Support" with the secret "canary-one"
      When ann renames it to "Help" and gives it the secret "canary-two"
      Then the latest entry says that ann changed it with a key, and from where
      And it tells the names "Support" and "Help"
      And it says that the secret changed
      And no entry holds "canary"

    @grpc
    Scenario: What is refused leaves no entry
      Given ann has a webhook "Support" with the secret "canary-one"
      When bob tries to rename it
      And ann erases a conversation that nobody has begun
      Then the latest entry says that ann made it

    Scenario: Signing in, rightly and wrongly
      When somebody at 192.0.2.9 signs in with a wrong key
      And ann signs in at 192.0.2.1
      Then the log tells a refused sign-in from 192.0.2.9
      And a session of ann from 192.0.2.1

    Scenario: The service starts
      When the service starts
      Then the log tells its settings, of secrets only that they are set

  Rule: Only admins read it

    @grpc
    Scenario Outline: <who> reads the log
      When <who> reads the log
      Then that is <outcome>

      Examples:
        | who                               | outcome   |
        | an admin                          | done      |
        | ann                               | forbidden |
        | a key of an admin without "admin" | forbidden |
        | nobody                            | not known |

    @grpc
    Scenario: Filters and pages
      Given ann has made 5 knowledge bases and bob has made one
      When an admin reads the log of ann's actions on bases, two at a time
      Then that are 5 entries on 3 pages, the latest first

    Scenario: As a file
      Given ann has made a knowledge base called "=1+1"
      When an admin exports the log
      Then the CSV file names each column, and no cell of it is a formula
      And the other file has one entry on each line

  Rule: The chain of entries shows what was changed

    Scenario: Nobody changed anything
      Given ann has made 5 knowledge bases and bob has made one
      Then the check of the log finds nothing

    Scenario Outline: <what>
      Given ann has made 5 knowledge bases and bob has made one
      When <what>
      Then the check of the log finds that "<fault>"

      Examples:
        | what                                  | fault                                           |
        | somebody changes the actor of a row   | the entry was changed                           |
        | somebody changes the data of a row    | the entry was changed                           |
        | somebody deletes a row in the middle  | an entry before it was removed, added or changed |
        | somebody deletes the first rows       | the entries before it are gone                  |

    Scenario: Old entries are removed by age
      Given ann has made 5 knowledge bases and bob has made one
      When 400 days pass, and old entries are removed
      Then the check of the log finds nothing
      And the log tells how many were removed
