Feature: Erasing a conversation
  Under privacy law a person may ask that all that was said is forgotten. Then nothing of it is left, in no table and in
  no file.

  Rule: No row and no file holds a text of an erased conversation

    Scenario: Everything that a conversation can have
      Given a bot of ann that repeats what it hears
      And ada has sent a document and got a file, an answer and a question about a tool
      And a message of ada's was given up, and an answer to her was not taken
      And ada has answered the first question of a form, in a conversation with a label and an assignee
      And ada has voted on an answer
      And a model remembers what ada said
      And ann has written to ada first, with a file
      And ada's next message waits
      And somebody follows what happens
      When ann erases ada's conversation
      Then no table and no file holds a word of it
      And ada's conversation is not found

    Scenario: Others' files stay
      Given a bot of ann that repeats what it hears
      And ada and bert have sent the same document
      When ann erases ada's conversation
      Then bert's document can still be fetched

    Scenario: A conversation that reads on
      Given a bot of ann that repeats what it hears
      When ada writes "old words"
      And ann erases ada's conversation
      And ada writes "new words"
      Then ada's conversation has only the new words

  Rule: What is under way writes nothing back

    Scenario: The resource answers after the erasure
      Given a bot of ann whose resource takes its time
      And ada has asked it something
      When ann erases ada's conversation
      And the resource answers with a file and a question about a tool, and remembers
      Then no table and no file holds a word of it
      And ada gets nothing

  Rule: A redelivery of an erased message is recognised

    Scenario: The platform delivers it again
      Given a bot of ann that repeats what it hears
      When ada writes "once"
      And ann erases ada's conversation
      And the platform delivers ada's message again
      Then the resource is not asked again
      And ada's conversation is not found

  Rule: Texts are kept for some days after the last message

    Scenario: A conversation that has been silent for long
      Given a bot of ann that keeps texts for 30 days
      When ada writes "long ago"
      And nothing was said for 31 days
      And old rows are cleaned
      Then no table and no file holds a word of it

    Scenario: A conversation that goes on is kept whole
      Given a bot of ann that keeps texts for 30 days
      When ada writes "long ago"
      And nothing was said for 20 days
      And ada writes "and again"
      And nothing was said for 20 days
      And old rows are cleaned
      Then ada's conversation still has 4 messages

    Scenario: Nothing is kept
      Given a bot of ann that keeps no texts
      When ada writes "briefly"
      And old rows are cleaned
      Then no table and no file holds a word of it
      And ann's bot has no conversations
      And the platform delivers ada's message again
      And the resource is not asked again

    Scenario: Nothing is kept of forms, labels and assignees either
      Given a bot of ann that keeps no texts
      And ada has answered the first question of a form, in a conversation with a label and an assignee
      When old rows are cleaned
      Then no table and no file holds a word of it

    Scenario: What waits is kept in any case
      Given a bot of ann that keeps no texts
      And ada's conversation is with a person
      When ada writes "please wait"
      And old rows are cleaned
      Then ada's conversation still has 3 messages

    Scenario: Dead letters are kept until they are dropped
      Given a bot of ann that keeps no texts
      And the platform takes no answers
      When ada writes "hello"
      And old rows are cleaned
      Then the dead letter can still be sent
