@s2.4 @s3.4 @s4.3 @s6
Feature: Cron
  A schedule sends a message to the resource, by the clock or by hand.

  Rule: On each firing the configured message goes to the resource

    Scenario: The schedule comes round
      Given a schedule with {"cronSchedule": "0 9 * * 1", "message": "Count the tables."}
      When its time comes
      Then the resource is asked 'Count the tables.'
      And it is planned again for a Monday at 9

    Scenario: Missed firings are made up for once
      Given a schedule with {"cronSchedule": "0 9 * * 1", "message": "Count the tables."}
      When its time came two months ago
      Then the resource is asked once

    Scenario: A schedule that is not enabled
      Given a schedule with {"cronSchedule": "* * * * *", "message": "Count the tables.", "enabled": false}
      Then it is not planned

    Scenario: A schedule in another time zone
      Given a schedule with {"cronSchedule": "30 7 * * *", "message": "Good morning.", "timezone": "Asia/Kolkata"}
      Then it is planned for 02:00 UTC

  Rule: An updated schedule is planned anew, a deleted one is not planned

    Scenario: Updated
      Given a schedule with {"cronSchedule": "0 9 * * 1", "message": "Count the tables."}
      When it is updated to {"cronSchedule": "0 6 * * *", "message": "Count the chairs."}
      Then it is planned for 06:00 UTC

    Scenario: Deleted
      Given a schedule with {"cronSchedule": "0 9 * * 1", "message": "Count the tables."}
      When it is deleted
      Then it is not planned

  Rule: manual_trigger fires it on demand

    Scenario Outline: A call with <body>
      Given a schedule with {"cronSchedule": "0 9 * * 1", "message": "Count the tables.", "enabled": <enabled>}
      When manual_trigger is called with <body>
      Then the call is "accepted"
      And it says that it is accepted, with a request id
      And the resource is asked '<text>'

      Examples:
        | body                 | enabled | text              |
        | {}                   | true    | Count the tables. |
        | (nothing)            | true    | Count the tables. |
        | (nothing)            | false   | Count the tables. |
        | {"message": "Now!"}  | true    | Now!              |

    Scenario: The settings of other channels mean nothing here
      Given a schedule with {"cronSchedule": "0 9 * * 1", "message": "Count the tables.", "accessMode": "allowlist"}
      When manual_trigger is called with (nothing)
      Then the call is "accepted"
      And the resource is asked 'Count the tables.'

    Scenario Outline: A call that is refused, with <body>
      Given a schedule with {"cronSchedule": "0 9 * * 1", "message": "Count the tables."}
      When manual_trigger is called with <body>
      Then the call is "invalid"
      And the resource is asked nothing

      Examples:
        | body           |
        | {"message": 5} |
        | now            |

    Scenario: Another callback
      Given a schedule with {"cronSchedule": "0 9 * * 1", "message": "Count the tables."}
      When its callback "webhook" is called
      Then the call is "not found"

  Rule: With a triggerSecret the call must carry it

    Scenario Outline: <header>
      Given a schedule with {"cronSchedule": "0 9 * * 1", "message": "Count.", "triggerSecret": "open sesame"}
      When manual_trigger is called with the secret "<secret>"
      Then the call is "<outcome>"

      Examples:
        | header | secret      | outcome   |
        | right  | open sesame | accepted  |
        | wrong  | open barley | not known |

  Rule: In one-shot mode the instance removes itself after one execution

    Scenario: By the clock
      Given a schedule with {"cronSchedule": "0 9 * * 1", "message": "Once.", "oneShot": true}
      When its time comes
      Then the resource is asked 'Once.'
      And the instance is gone

    Scenario: By hand
      Given a schedule with {"cronSchedule": "0 9 * * 1", "message": "Once.", "oneShot": true}
      When manual_trigger is called with (nothing)
      Then the resource is asked 'Once.'
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
