Feature: Conversations and their messages
  Who looks after an instance sees its conversations as the senders see them, with the state of each message.

  Rule: The list shows each conversation with its latest message

    Scenario: The latest conversation comes first
      Given a bot of ann that repeats what it hears
      When ada writes "first question"
      And bert writes "second question"
      Then ann sees the conversations of bert and ada, in this order
      And the latest message of ada's conversation is "You said: first question"
      And nothing waits for an answer

    Scenario: Messages that wait are told apart
      Given a bot of ann that does not answer yet
      When ada writes "are you there"
      Then ann sees only ada among the conversations that wait
      And ann sees nobody among those that do not

    Scenario Outline: Conversations are found by what was said and by whom
      Given a bot of ann that repeats what it hears
      When ada writes "the pump is 100% broken"
      And bert writes "a valve_2 leaks"
      Then ann finds the conversation of <who> by "<text>"

      Examples:
        | who  | text             |
        | ada  | PUMP             |
        | ada  | 100%             |
        | ada  | Ada Lovelace     |
        | bert | valve_2          |
        | bert | You said: a valv |

    Scenario: What nobody said is not found
      Given a bot of ann that repeats what it hears
      When ada writes "valves"
      Then ann finds nothing by "valve_"
      And ann finds nothing by "v%s"

    Scenario: A long list comes in pages
      Given a bot of ann that repeats what it hears
      When 7 people write
      Then ann sees all 7 conversations in pages of 3

  Rule: A conversation reads as in the chat

    Scenario: Questions and answers alternate
      Given a bot of ann that repeats what it hears
      When ada writes "one"
      And ada writes "two"
      Then ada's conversation reads:
        | who      | text          | state |
        | sender   | one           | done  |
        | resource | You said: one | sent  |
        | sender   | two           | done  |
        | resource | You said: two | sent  |

    Scenario: In pages, from either end
      Given a bot of ann that repeats what it hears
      When ada writes 5 messages
      Then ann reads the same conversation in pages of 3
      And ann reads it backwards in pages of 3

    Scenario: What failed says why
      Given a bot of ann whose resource fails
      When ada writes "help"
      Then ada's conversation reads:
        | who    | text | state  |
        | sender | help | failed |
        | system |      | sent   |
      And the reason of ada's message names the resource

    Scenario: What the platform does not take is dead
      Given a bot of ann whose platform refuses answers
      When ada writes "hello"
      Then ada's conversation reads:
        | who      | text            | state |
        | sender   | hello           | done  |
        | resource | You said: hello | dead  |

    Scenario: Conversations may have any name
      Given a bot of ann that repeats what it hears
      Then a conversation can be read whose name has slashes, blanks, accents, or thousands of letters
      And one that does not exist is not found, whatever its name

  Rule: Only the owner and admins see conversations

    Scenario: Somebody else's conversation
      Given a bot of ann that repeats what it hears
      When ada writes "secret"
      Then bob is refused whatever he asks of ada's conversation
      And an admin sees it

    Scenario: A message of another instance
      Given a bot of ann whose resource fails
      And a bot of bob
      When ada writes "secret"
      Then bob cannot run ada's message again through his bot

  Rule: What was given up can be run again

    Scenario: A message that could not be processed
      Given a bot of ann whose resource fails
      When ada writes "help"
      And the resource works again
      Then ann sees ada's message among those that were given up
      When ann runs it again
      Then ada gets "You said: help"
      And the resource was asked under another name
      And nothing is given up any more

    Scenario: An answer that the platform did not take
      Given a bot of ann whose platform refuses answers
      When ada writes "hello"
      And the platform takes answers again
      Then ann sees the answer to ada among those that were given up
      When ann runs it again
      Then ada gets "You said: hello"
      And nothing is given up any more

    Scenario: What was not given up cannot be run again
      Given a bot of ann that repeats what it hears
      When ada writes "fine"
      Then running ada's message or its answer again is a conflict
      And running one again that does not exist is not possible

  Rule: Limits and words of a request are checked

    Scenario Outline: What cannot be asked is named
      Given a bot of ann that repeats what it hears
      Then asking for conversations with a wrong <field> is refused, and the field is named

      Examples:
        | field   |
        | limit   |
        | cursor  |
        | waiting |
        | query   |
        | status  |
