Feature: Who may no longer see an instance follows it no longer
  Ann owns the bot "Support", which is shared with bob and with the team Help. Dan is in the team. Adam is an admin.

  Rule: A stream ends with what opened it

    @grpc
    Scenario Outline: A stream that ends
      Given <who> follows events with <what>
      And kim wrote "before", of which <who> is told
      When <change>
      And half a minute passes
      And kim writes "after"
      Then the stream of <who> ends
      And <who> is not told of "after"

      Examples:
        | who   | what                        | change                        |
        | bob   | a key                       | adam suspends bob             |
        | bob   | a key                       | adam deletes bob              |
        | bob   | a key                       | that key is revoked           |
        | bob   | a key that ends in a day    | a day passes                  |
        | bob   | a key that another one made | the other key is revoked      |
        | bob   | a service's key             | adam suspends bob             |
        | bob   | a session of the console    | the session is signed out     |
        | bob   | a session of the console    | adam suspends bob             |
        | eve   | an admin's key              | eve becomes a responder       |
        | eve   | an admin's session          | eve becomes a member          |

  Rule: A stream goes on without the instances that are no longer shared

    @grpc
    Scenario Outline: A stream that goes on
      Given <who> has a bot and follows all events with a key
      And kim wrote "before", of which <who> is told
      When <change>
      And kim writes "after" to ann's bot, then "mine" to the bot of <who>
      Then <who> is told of "before" and "mine" alone

      Examples:
        | who | change                               |
        | bob | ann takes the permission of bob back |
        | dan | dan is taken out of the team         |
        | dan | ann takes the team's permission back |
        | dan | adam deletes the team                |

    @grpc
    Scenario: A stream of one's successor
      Given bob has a bot and follows all events with a key
      And kim wrote "before", of which bob is told
      When adam deletes ann in favour of bob
      And kim writes "after" to ann's bot, then "mine" to the bot of bob
      Then bob is told of "before", "after" and "mine"
