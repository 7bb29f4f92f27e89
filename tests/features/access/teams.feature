Feature: Users, teams and what they share
  Ann owns the instance "Support". Adam is an admin.

  Rule: A user appears by themselves, and is managed by admins

    @grpc
    Scenario: A user appears with the first key, and with the first call of a service
      Given bob has a key
      When a service calls for cleo
      Then the users are adam, ann, bob, cleo
      And bob is a member

    @grpc
    Scenario: Suspending ends keys, and all that was made with them
      Given bob has a key
      And with it a key of his own was made, and with that one another
      When adam suspends bob
      Then no key of bob's is taken any more
      And a service cannot call for bob

    @grpc
    Scenario: A key that an admin made ends with them, and what was made with it too
      Given eve is an admin who made a key for bob
      And bob made another key with it
      When adam deletes eve
      Then no key of bob's is taken any more

    Scenario: Deleting needs a successor, who gets all that the user owned
      Given ann has a base and an agent
      Then adam cannot delete ann without a successor
      When adam deletes ann in favour of bob
      Then bob owns the instance, the base and the agent

    Scenario: The last admin stays
      Then adam can neither be deleted, nor suspended, nor made a member
      When bob becomes an admin
      Then adam can be made a member

    Scenario: Two admins who make each other members at the same time
      When bob becomes an admin
      And adam and bob make each other members at the same time
      Then one admin is left

    Scenario: The former name of the role member
      When adam makes a key with the role "user" for bob
      Then bob is a member

    @grpc
    Scenario: A responder makes nothing of their own
      When dan becomes a responder
      Then dan can make no instance, no base, no agent and no subscription
      And dan can make a key of his own

  Rule: An instance is shared with users and teams

    @grpc
    Scenario Outline: What each level allows
      Given dan is a responder
      When ann shares the instance with <whom> at level <level>
      Then dan <sees> the conversations of it
      And dan <answers> in it
      And dan <manages> its configuration
      And its secret is <shown> to dan

      Examples:
        | whom       | level | sees       | answers       | manages       | shown  |
        | dan        | 1     | sees       | cannot answer | cannot change | masked |
        | dan        | 2     | sees       | may answer    | cannot change | masked |
        | dan        | 3     | sees       | may answer    | may change    | shown  |
        | his team   | 1     | sees       | cannot answer | cannot change | masked |
        | his team   | 2     | sees       | may answer    | cannot change | masked |
        | his team   | 3     | sees       | may answer    | may change    | shown  |

    @grpc
    Scenario: The list of instances stays that of one's own
      When ann shares the instance with bob at level 2
      Then bob's instances are none
      And what is shared with bob is the instance with the level 2
      And all that ann sees is the instance with the level 3

    @grpc
    Scenario: Who is taken out of the team sees nothing any more
      Given dan is a responder
      When ann shares the instance with his team at level 2
      And dan is taken out of the team
      Then dan cannot see the conversations of it

    Scenario: Who leads a team changes its members, and nothing else of it
      Given dan leads his team
      Then dan can add bob to the team
      And dan can neither rename nor delete the team

    Scenario: Who manages an instance of another user may not use what else the owner has
      Given ann has an agent of her own
      When ann shares the instance with bob at level 3
      Then bob cannot bind the instance to the agent of ann
      And ann can

  Rule: A key can do less than its user

    @grpc
    Scenario: A key that only reads conversations
      Given ann has a key for "conversations:read"
      Then with it ann sees the conversations of the instance
      But with it ann cannot send, list her instances or make a key

    Scenario: The scope admin makes nobody an admin
      Given ann has a key for "admin"
      Then with it ann cannot list users
      And with it ann can make a key for "admin", and none for anything else

    Scenario: A key tells who made it
      Given ann has a key for "admin"
      When ann makes a key with it
      Then that key was made by ann, and ends with the first

    @grpc
    Scenario: Who calls
      Given ann has a key for "conversations:read"
      Then with it ann is told that she is a member with "conversations:read"
