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

  Rule: One list shows the conversations of all instances

    Scenario: Conversations of two bots
      Given a bot of ann that repeats what it hears
      And a second bot of ann
      And a bot of bob
      When ada writes "to the first bot"
      And carl writes to the second bot
      Then ann sees carl and ada in one list, and the bot that each wrote to
      And the list of the second bot alone has carl
      And bob's list is empty
      And an admin's list has both

    Scenario: A long list over all bots comes in pages
      Given a bot of ann that repeats what it hears
      And a second bot of ann
      When 4 people write
      And carl writes to the second bot
      Then ann's list of all bots has the same 5 conversations in pages of 2

    Scenario: What a person has, and what waits for them
      Given a bot of ann that repeats what it hears
      And ada and bert have written
      When ann takes ada's conversation over
      And ada writes "is anybody there"
      Then ann finds ada alone among what a person has
      And ann is named as the one who has it
      And ann finds bert alone among what the resource has
      And ann finds ada alone among what waits
      And one conversation can be looked up by its id

    Scenario: Lists of instances that are somebody else's
      Given a bot of ann that repeats what it hears
      And a bot of bob
      When ada writes "secret"
      Then bob is refused the list of ann's bot
      And the list of a bot that does not exist is not found

  Rule: A timeline says what happened to a message

    Scenario: It was answered
      Given a bot of ann that repeats what it hears
      When ada writes "hello"
      Then the timeline of ada's message reads "received, asked, answered"
      And the timeline of the answer reads "written, sent"
      And each of these steps has its time, but for the asking

    Scenario: The resource failed
      Given a bot of ann whose resource fails
      When ada writes "help"
      Then the timeline of ada's message reads "received, asked, failed"
      And the last step says that the model is away

    Scenario: The platform does not take the answer
      Given a bot of ann whose platform refuses answers
      When ada writes "hello"
      Then the timeline of the answer reads "written, dead"
      And the last step says that the chat was not found

    Scenario: The platform takes the answer later
      Given a bot of ann whose platform refuses answers
      When ada writes "hello"
      And the platform takes answers again
      And ann runs it again
      And ada gets "You said: hello"
      Then the timeline of the answer reads "written, sent"
      And the last step says that the chat was not found

    Scenario: A tool was asked for and approved
      Given a bot of ann whose resource asks before it opens a valve
      When ada writes "open it"
      And ada writes "yes"
      Then the timeline of ada's message reads "received, asked, tool_asked, tool_decided, answered"
      And the timeline names the tool, the decision, and ada

    Scenario: A person writes first, in several pieces
      Given a bot of ann that repeats what it hears
      And ada and bert have written
      When ann writes a very long text to ada
      Then the timeline of ann's message reads "written, sent, sent, sent"
      And each piece has its number

    @grpc
    Scenario: A question that waits for a person
      Given a bot of ann that repeats what it hears
      And ada and bert have written
      When ann takes ada's conversation over
      And ada writes "is anybody there"
      Then the timeline of ada's latest message reads "received"
      When ann answers it
      Then the timeline of that message reads "received, done"

    Scenario: A timeline that nobody may see
      Given a bot of ann that repeats what it hears
      And a bot of bob
      When ada writes "secret"
      Then bob gets no timeline of it through ann's bot, nor through his own

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

    @grpc
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
