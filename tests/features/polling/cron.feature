@s2.4 @s3.4 @s4.3 @s6
Feature: Cron
  A schedule sends a message to the resource, by the clock or by hand.

  Rule: On each firing the configured message goes to the resource

    Scenario: The schedule comes round
      Given a schedule for every Monday at 9
      When its time comes
      Then the resource is asked 'Count the tables.'
      And it is planned again for a Monday at 9

    Scenario: Missed firings are made up for once
      Given a schedule for every Monday at 9
      When its time came two months ago
      Then the resource is asked once

    Scenario: A schedule that is not enabled
      Given a schedule for every minute, switched off
      Then it is not planned

    Scenario: A schedule in another time zone
      Given a schedule for every day at 7:30, in the time zone of Kolkata
      Then it is planned for 02:00 UTC

  Rule: An updated schedule is planned anew, a deleted one is not planned

    Scenario: Updated
      Given a schedule for every Monday at 9
      When it is updated to every day at 6
      Then it is planned for 06:00 UTC

    Scenario: Deleted
      Given a schedule for every Monday at 9
      When it is deleted
      Then it is not planned

  Rule: A call of its callback "manual_trigger" fires it on demand

    Scenario Outline: A call with <body>
      Given a schedule for every Monday at 9, <state>
      When it is triggered with <body>
      Then the call is "accepted"
      And it says that it is accepted, with a request id
      And the resource is asked '<text>'

      Examples:
        | body               | state        | text              |
        | no message         | switched on  | Count the tables. |
        | nothing            | switched on  | Count the tables. |
        | nothing            | switched off | Count the tables. |
        | the message "Now!" | switched on  | Now!              |

    Scenario: The settings of other channels mean nothing here
      Given a schedule for every Monday at 9, for verified users only
      When it is triggered with nothing
      Then the call is "accepted"
      And the resource is asked 'Count the tables.'

    Scenario Outline: A call that is refused, with <body>
      Given a schedule for every Monday at 9
      When it is triggered with <body>
      Then the call is "invalid"
      And the resource is asked nothing

      Examples:
        | body                      |
        | a number as its message   |
        | text instead of an object |

    Scenario: Another callback
      Given a schedule for every Monday at 9
      When its callback "webhook" is called
      Then the call is "not found"

  Rule: With a triggerSecret the call must carry it

    Scenario Outline: <header>
      Given a schedule for every Monday at 9, with the secret "open sesame"
      When somebody with the secret "<secret>" triggers it
      Then the call is "<outcome>"

      Examples:
        | header | secret      | outcome   |
        | right  | open sesame | accepted  |
        | wrong  | open barley | not known |

  Rule: In one-shot mode the instance removes itself after one execution

    Scenario: By the clock
      Given a schedule for every Monday at 9, for one execution
      When its time comes
      Then the resource is asked 'Count the tables.'
      And the instance is gone

    Scenario: By hand
      Given a schedule for every Monday at 9, for one execution
      When it is triggered with nothing
      Then the resource is asked 'Count the tables.'
      And the instance is gone

  Rule: An expression needs five fields, each within its range

    Scenario Outline: <expression>
      When a schedule is asked for with the expression <expression>
      Then the call is "invalid"
      And the error names <words>

      Examples:
        | expression  | words        |
        | 60 * * * *  | minute       |
        | * 24 * * *  | hour         |
        | * * 0 * *   | day of month |
        | * * * 13 *  | month        |
        | * * * * 8   | weekday      |
        | * * * *     | 5 fields     |
        | 0 0 0 * * * | 5 fields     |
        | @daily      | 5 fields     |
        | 0 0 31 2 *  | never comes  |
