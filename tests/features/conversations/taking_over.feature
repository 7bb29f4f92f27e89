Feature: A person takes a conversation over
  While a person has a conversation, its messages are kept for them and not given to the resource.

  Rule: What is written while a person has the conversation waits for them

    Scenario: The resource is not asked
      Given a bot of ann that repeats what it hears
      And ada has written before
      When ann takes ada's conversation over
      And ada writes "is anybody there"
      Then ada's message waits, and the conversation is with a person
      And the resource was not asked about "is anybody there"
      And other conversations are answered by the resource

    Scenario: The person answers
      Given a bot of ann that repeats what it hears
      And ada has written before
      When ann takes ada's conversation over
      And ada writes "is anybody there"
      And ann writes "yes, me" to ada
      Then ada gets "yes, me"
      And ada's question counts as answered, by a person
      And the resource was not asked about "is anybody there"

    Scenario: The person sees the files
      Given a bot of ann that repeats what it hears
      And ada has written before
      When ann takes ada's conversation over
      And ada sends a document
      Then ann can open the document

    Scenario: A file that the platform has lost
      Given a bot of ann that repeats what it hears
      And ada has written before
      When ann takes ada's conversation over
      And ada sends a document that the platform loses
      Then ann sees its name alone

    Scenario: A message that is being worked on is finished
      Given a bot of ann whose resource takes its time
      And ada has asked it "one"
      And ada has asked it "two"
      When ann takes ada's conversation over
      And the resource answers
      Then ada gets "You said: one"
      And only "two" waits for a person

  Rule: The resource has it again

    Scenario: The person hands it back
      Given a bot of ann that repeats what it hears
      And ada has written before
      When ann takes ada's conversation over
      And ada writes "and now"
      And ann hands it back
      Then ada gets "You said: and now"
      And the conversation is with the resource

    Scenario: The time is over
      Given a bot of ann that repeats what it hears
      And ada has written before
      When ann takes ada's conversation over
      And ada writes "and now"
      And the time of the person is over
      Then ada gets "You said: and now"
      And the conversation is with the resource

    Scenario: The person's message begins the time anew
      Given a bot of ann that repeats what it hears
      And ada has written before
      When ann takes ada's conversation over for 10 minutes
      And 8 minutes pass
      And ann writes "a moment, please" to ada
      Then the person has it for 10 minutes more

  Rule: A resource may ask for a person

    Scenario: It tells the sender and hands over
      Given a bot of ann whose resource asks for a person with "A colleague will answer you"
      When ada writes "a refund, please"
      Then ada gets "A colleague will answer you"
      And the conversation is with a person
      When ada writes "hello?"
      Then ada's message waits, and the conversation is with a person

  Rule: The time is from a minute to a week

    Scenario Outline: Other times are refused
      Given a bot of ann that repeats what it hears
      And ada has written before
      Then taking it over for <minutes> minutes is refused, and the field is named

      Examples:
        | minutes |
        | 0       |
        | 10081   |
        | -5      |

    Scenario: A week is possible
      Given a bot of ann that repeats what it hears
      And ada has written before
      When ann takes ada's conversation over for 10080 minutes
      Then the person has it for 10080 minutes more
