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

    @grpc
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

  Rule: Whoever answers takes the conversation over

    Scenario: A person answers without taking it over before
      Given a bot of ann that repeats what it hears
      And ada has written before
      When ann writes "I look into it" to ada
      Then the conversation is with a person
      And ann has the conversation
      When ada writes "thank you"
      Then ada's message waits, and the conversation is with a person
      And the person has it for 60 minutes more

    Scenario: The time that was chosen before stays
      Given a bot of ann that repeats what it hears
      And ada has written before
      When ann takes ada's conversation over for 10 minutes
      And ann writes "a moment, please" to ada
      Then the person has it for 10 minutes more

    Scenario: A person answers what a resource asked for a person for
      Given a bot of ann whose resource asks for a person with "A colleague will answer you"
      When ada writes "a refund, please"
      Then ada gets "A colleague will answer you"
      When ann writes "I am here" to ada
      Then ann has the conversation

    Scenario: An answer that is refused takes nothing over
      Given a bot of ann that repeats what it hears
      And ada has written before
      When ann answers ada without any text, which is refused
      Then the conversation is with the resource

    Scenario: A program sends a notice and leaves the conversation with the resource
      Given a bot of ann that repeats what it hears
      And ada has written before
      When a program of ann writes "Your order is ready" to ada and takes nothing over
      Then ada gets "Your order is ready"
      And the conversation is with the resource
      When ada writes "thank you"
      Then ada gets "You said: thank you"

    Scenario: Somebody else is not asked to wait for it
      Given a bot of ann that repeats what it hears
      And ada has written before
      When ann writes "I look into it" to ada
      Then other conversations are answered by the resource

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
