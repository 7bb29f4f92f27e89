Feature: Reports
  What happened on each day is counted, and stays when the messages are gone.

  Rule: A day has its messages, people, answers, times, handovers, failures and votes

    @grpc
    Scenario: Two days of a bot
      Given a bot of ann that asks for feedback, whose agent answers after 2 seconds
      When ada writes "hello"
      And ada likes the answer
      And bert writes "hello"
      And bert does not like the answer
      And bert writes "a refund, please"
      And 30 seconds pass, and ann writes "I am here" to bert
      And bert writes "thank you"
      And 10 seconds pass, and bob, an admin, writes "you are welcome" to bert
      And bob writes "good bye" to bert
      And ada writes "fail"
      And 8 seconds pass, and ada writes "that is all"
      And the next day begins
      And ada writes "hello again"
      Then the report by day is
        | day    | messages | people | by agents | by colleagues | handovers | closed | failures | liked | disliked |
        | first  | 6        | 2      | 4         | 2             | 1         | 1      | 1        | 1     | 1        |
        | second | 1        | 1      | 1         | 0             | 0         | 0      | 0        | 0     | 0        |
      And the times of the first day are
        | what            | how many | mean seconds |
        | to first answer | 2        | 2            |
        | to a colleague  | 1        | 29           |
        | to close        | 1        | 60           |
      And the report by colleague is
        | colleague | messages | people | by agents | by colleagues | handovers | closed | failures | liked | disliked |
        | nobody    | 7        | 3      | 5         | 0             | 1         | 1      | 1        | 1     | 1        |
        | ann       | 0        | 0      | 0         | 1             | 0         | 0      | 0        | 0     | 0        |
        | bob       | 0        | 0      | 0         | 1             | 0         | 0      | 0        | 0     | 0        |
      And the report of the second day alone has 1 message
      And the report by instance names the bot

    Scenario: A colleague is the first to answer
      Given a bot of ann that asks for feedback, whose agent answers after 2 seconds
      When ann has taken over what bert wrote before
      And bert writes "hello"
      And 45 seconds pass, and ann writes "I am here" to bert
      Then the colleague ann has 2 answers

    @grpc
    Scenario: A team has what its members did
      Given a bot of ann that asks for feedback, whose agent answers after 2 seconds
      And the team "Billing" of ann and bob
      And the team "Abroad" of bob and zoe
      When ann has taken over what bert wrote before
      And bert writes "hello"
      And 45 seconds pass, and bob, an admin, writes "I am here" to bert
      Then the report by team is
        | team    | messages | people | by agents | by colleagues | handovers | closed | failures | liked | disliked |
        | none    | 2        | 1      | 1         | 0             | 0         | 0      | 0        | 0     | 0        |
        | Billing | 0        | 0      | 0         | 2             | 1         | 0      | 0        | 0     | 0        |
        | Abroad  | 0        | 0      | 0         | 1             | 0         | 0      | 0        | 0     | 0        |

    Scenario: A conversation that is open again has a first answer again
      Given a bot of ann that asks for feedback, whose agent answers after 2 seconds
      When ada writes "that is all"
      And 60 seconds pass, and ada writes "hello"
      Then the times of the first day are
        | what            | how many | mean seconds |
        | to first answer | 2        | 2            |
        | to close        | 1        | 2            |

    Scenario: What happens now is counted by itself
      Given a bot of ann whose reports are counted as always
      When ada has written "hello" and got an answer
      Then the report of the last 30 days has 1 message, 1 answer and 1 first answer before long

  Rule: A spreadsheet can read it

    Scenario: Reports as CSV
      Given a bot of ann that asks for feedback, whose agent answers after 2 seconds
      When ada writes "hello"
      And the next day begins
      And bert writes "hello"
      Then the CSV file has the same figures as the report
      And a colleague with the name "=1+1" is a text in the CSV file

  Rule: Who may see instances sees their reports

    Scenario: Strangers and admins
      Given a bot of ann that asks for feedback, whose agent answers after 2 seconds
      When ada writes "hello"
      Then bob sees no report, and may not ask for that of the bot
      And an admin sees that of the bot

    Scenario: A bot that is shared
      Given a bot of ann that asks for feedback, whose agent answers after 2 seconds
      When ada writes "hello"
      And ann shares the bot with bob, who may look at it
      Then bob sees the report of the bot
      And a key of his for messages alone shows no report

    Scenario: An instance that is gone
      Given a bot of ann that asks for feedback, whose agent answers after 2 seconds
      When ada writes "hello"
      And the day is counted
      And ann deletes the bot
      Then an admin sees that of the bot
      And ann sees no report

  Rule: Figures outlive what was said

    Scenario: A conversation is erased
      Given a bot of ann that asks for feedback, whose agent answers after 2 seconds
      When ada writes "my Schnabeltier"
      And ada likes the answer
      And the day is counted
      And ann erases what ada wrote
      Then the report by day is
        | day    | messages | people | by agents | by colleagues | handovers | closed | failures | liked | disliked |
        | first  | 1        | 1      | 1         | 0             | 0         | 0      | 0        | 1     | 0        |
      And no figure holds "Schnabeltier", "Lovelace" or ada's id

  Rule: What is asked wrongly is refused with its name

    Scenario Outline: <field> is "<text>"
      Given a bot of ann that asks for feedback, whose agent answers after 2 seconds
      Then a report with <field> "<text>" is refused: <reason>

      Examples:
        | field      | text       | reason                                         |
        | by         | year       | year: unknown                                  |
        | from       | yesterday  | must be a day                                  |
        | to         | 2026-02-30 | must be a day                                  |
        | to         | 0001-01-01 | must be a day                                  |
        | from       | 1999-12-31 | must be less than 400 days before              |
        | from       | 9999-12-31 | must not be after                              |
        | cursor     | x          | must be the value of next                      |
