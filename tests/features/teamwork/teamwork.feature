Feature: Working together on conversations
  Ann has a bot. Bob may answer what people write to it, carl may only look. Bob and dora are the team Support.

  Background:
    Given a bot of ann that repeats what it hears
    And bob may answer there, and carl may look
    And the team "Support" of bob and dora
    And ada has written before

  Rule: Whoever answers first has the conversation

    @grpc
    Scenario: Two people answer, one after the other
      When bob answers ada "I am on it"
      Then bob has the conversation, and is its assignee
      When ann answers ada "Me too"
      Then ann is told that bob has it
      And ada got "I am on it" and nothing of ann's
      When ada writes "thank you"
      Then the bot does not answer "thank you"

    Scenario: Two people answer at once
      When ann and bob answer ada at the same time
      Then one of them has it, and the other is told
      And ada got one answer

    @grpc
    Scenario: Somebody takes it from who has it
      When bob answers ada "I am on it"
      And ann answers ada "I know more" and takes it over
      Then ann has the conversation, and is its assignee
      And ada got "I am on it" and "I know more"

    Scenario: Somebody helps out and leaves it
      When bob answers ada "I am on it"
      And ann answers ada "A word from me" and leaves it
      Then bob has the conversation, and is its assignee
      And ada got "I am on it" and "A word from me"

    Scenario: The same request again is no second answer
      When bob answers ada "Once" with the key "k1"
      And bob answers ada "Once" with the key "k1"
      Then ada got "Once" and nothing more

    Scenario: It is on record that the conversation was taken
      When bob answers ada "I am on it"
      And bob answers ada "Still on it"
      Then the audit log tells once that bob took it

    Scenario: Who may only look answers nothing
      Then carl may not answer, assign or note anything

  Rule: A conversation has an assignee

    @grpc
    Scenario: It is given to a team and found there
      When ann assigns ada's conversation to "team:support"
      Then it is assigned to the team, and among the conversations of bob's teams
      And it is not among the conversations of nobody
      And the audit log tells that ann changed it
      And bob is notified that it is assigned

    Scenario: Who has it passes it on
      When bob answers ada "I am on it"
      And bob assigns ada's conversation to "user:ann"
      Then ann has the conversation, and is its assignee
      When ann assigns ada's conversation to "team:Support"
      Then the conversation wants a person
      When bob answers ada "Back again"
      Then bob has the conversation, and is its assignee

    Scenario Outline: Only those who can answer become the assignee
      Then assigning ada's conversation to "<assignee>" is refused, and the field is named

      Examples:
        | assignee     |
        | user:carl    |
        | user:nobody  |
        | team:unknown |
        | somebody     |

    Scenario: A resource names a team when it hands over
      Given the resource hands over to the team "Support"
      When ada writes "a refund, please"
      Then it is assigned to the team, and among the conversations of bob's teams
      And the conversation wants a person

    Scenario: A team that is deleted has no conversations
      When ann assigns ada's conversation to "team:support"
      And the team is deleted
      Then the conversation is of nobody

  Rule: A conversation is open, snoozed or closed

    @grpc
    Scenario: A snoozed conversation comes back by itself
      When bob snoozes ada's conversation for an hour
      Then the conversation is snoozed
      When the hour is over
      Then the conversation is open

    Scenario: A snoozed conversation comes back when the person writes
      When bob snoozes ada's conversation for an hour
      And ada writes "hello again"
      Then the conversation is open

    Scenario: A closed conversation comes back when the person writes
      When bob closes ada's conversation
      Then the conversation is closed
      When ada writes "hello again"
      Then the conversation is open

    Scenario: Events tell of each change
      Given somebody follows what happens
      When bob snoozes ada's conversation for an hour
      And ada writes "hello again"
      And bob closes ada's conversation
      Then the events tell that it was snoozed, open and closed

    Scenario: A time that is not to come is refused
      Then snoozing ada's conversation until yesterday is refused, and the field is named
      And snoozing ada's conversation without a time is refused, and the field is named

  Rule: Labels

    @grpc
    Scenario: A conversation is labelled and found
      When bob labels ada's conversation "sale" and "vip"
      Then it is found by the labels "sale" and "vip" alone

  Rule: Notes are read by those who work on the conversation

    @grpc
    Scenario: A note stands among the messages
      When bob notes "@ann she has called before, @support should know, @carl too, @nobody not"
      Then ann reads it among the messages, as a note of bob's
      And it names ann, carl and the team
      And it was sent to nobody, and the bot did not get it
      And ann is notified that she is mentioned

    Scenario: The person and the resource get nothing of it
      When bob notes "secret-word"
      And ada writes "how are you"
      Then neither ada nor the resource got "secret-word"

    Scenario: A note goes with its conversation
      When bob notes "secret-word"
      And ann erases ada's conversation
      Then nothing is left of "secret-word"

    Scenario: An empty note is refused
      Then noting nothing is refused, and the field is named

  Rule: Snippets

    @grpc
    Scenario: A snippet is sent with the name of the person
      When bob writes the snippet "Greeting": "Hello {{name}}, I am Bob."
      And bob answers ada with the snippet
      Then ada got "Hello Ada Lovelace, I am Bob." and nothing more

    @grpc
    Scenario: Who sees and changes snippets
      When bob writes the snippet "Own": "mine"
      And bob writes the snippet "Team": "ours" for the team
      And the admin writes the snippet "House": "everybody's" for all
      Then bob sees the snippets "Own, Team, House"
      And dora sees the snippets "Team, House"
      And carl sees the snippets "House"
      And carl cannot change the snippets of bob and of all
      And dora changes and deletes the snippet of the team

    Scenario: A member writes no snippet for all or for another team
      Then carl cannot write a snippet for all, nor for the team

  Rule: Views of the inbox

    @grpc
    Scenario: Lists and their numbers
      Given bert has written before
      When bob answers ada "I am on it"
      Then these views show, and count, for bob:
        | view        | conversations |
        | mine        | ada           |
        | unassigned  | bert          |
        | open        | ada, bert     |
        | closed      |               |
      When ann assigns bert's conversation to "team:support"
      And bob closes ada's conversation
      Then these views show, and count, for bob:
        | view        | conversations |
        | mine        |               |
        | teams       | bert          |
        | open        | bert          |
        | closed      | ada           |
      And nothing is shown or counted for dora

    Scenario: What failed, and who wants a person
      Given the resource hands over to the team "Support"
      When bert writes "a refund, please"
      Given the resource fails
      When ada writes "hello?"
      Then these views show, and count, for bob:
        | view        | conversations |
        | wantsPerson | bert          |
        | failed      | ada           |
