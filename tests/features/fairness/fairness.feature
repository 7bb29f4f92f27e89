Feature: Nobody starves others
  A worker has a number of places. What hangs in some of them leaves room for the rest: here it has 16 places,
  of which one instance gets at most 4 and one user at most 12.

  Rule: A conversation that hangs holds up nobody else

    Scenario: One hanging conversation and 200 healthy ones
      Given an instance of ann
      When 1 conversation of the instance hangs in its resource
      And 200 other conversations of the instance write
      Then each of the 200 conversations is answered once
      And 1 conversation still waits

  Rule: An instance that hangs holds up no other

    Scenario: All conversations of one instance hang
      Given an instance of ann whose resource hangs
      And another instance of ann
      When 60 conversations write to the first instance
      And 200 conversations write to the other
      Then each of the 200 conversations is answered once
      And at most 4 conversations of an instance were worked on at a time

    Scenario: The response address of one instance hangs
      Given an instance of ann whose response address hangs
      And another instance of ann
      When 60 conversations write to the first instance
      And 200 conversations write to the other
      Then each of the 200 conversations is answered once
      And at most 4 replies of the first instance were under way at a time

  Rule: A user whose instances hang holds up no other user

    Scenario: All instances of one user hang
      Given 6 instances of ann whose resources hang
      And an instance of bob
      When 20 conversations write to each instance of ann
      And 200 conversations write to bob's
      Then each of the 200 conversations is answered once
      And at most 12 conversations of ann were worked on at a time

  Rule: A flood takes no more memory than the places

    Scenario: 500 conversations wait at once
      Given an instance of ann
      When 500 conversations of the instance wait, and then the worker looks
      Then all 500 are answered
      And the worker never held more than 16 conversations

  Rule: What waits can be seen

    Scenario: The age of the oldest message that waits is in the metrics
      Given an instance of ann whose resource hangs
      And its messages have waited for 5 minutes
      Then the metrics say that the oldest message has waited for at least 300 seconds
      And the metrics say that 1 conversation waits
