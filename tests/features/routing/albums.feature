Feature: Albums
  A messenger sends each picture of an album as a message of its own. The resource is asked once for the whole album,
  with all its pictures and captions, and the sender gets one answer.

  Rule: An album is one message

    Scenario: Two pictures with a caption
      When Ada sends an album of 2 pictures with the caption "Which of them?"
      Then the resource is asked in this order
        | who | text           | pictures |
        | Ada | Which of them? | 1, 2     |
      And each of them is answered once

    Scenario: An album of the largest size
      When Ada sends an album of 10 pictures with the caption "All of them"
      Then the resource is asked in this order
        | who | text        | pictures                      |
        | Ada | All of them | 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 |
      And each of them is answered once

    Scenario: The pictures come in another order than they were sent
      When Ada sends the pictures 3, 1, 2 of an album
      Then the resource is asked in this order
        | who | text | pictures |
        | Ada |      | 1, 2, 3  |
      And each of them is answered once

    Scenario: The album arrives while a worker waits for it
      Given a worker is at work
      When Ada sends an album of 10 pictures with the caption "All of them"
      Then the resource is asked in this order
        | who | text        | pictures                      |
        | Ada | All of them | 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 |
      And each of them is answered once

    Scenario: One picture is delivered twice
      When Ada sends an album of 2 pictures with the caption "Which of them?"
      And the messenger delivers the first picture again
      Then the resource is asked in this order
        | who | text           | pictures |
        | Ada | Which of them? | 1, 2     |
      And each of them is answered once

    Scenario: The caption is edited at once
      When Ada sends an album of 2 pictures with the caption "Wich of them?"
      And she edits the caption to "Which of them?"
      Then the resource is asked in this order
        | who | text           | pictures |
        | Ada | Which of them? | 1, 2     |
      And each of them is answered once

    Scenario: A picture comes long after the others were answered
      When Ada sends the pictures 1, 2 of an album
      And the album has been answered
      And Ada sends the pictures 3 of that album
      Then the resource is asked in this order
        | who | text | pictures |
        | Ada |      | 1, 2     |
        | Ada |      | 3        |
      And each of them is answered once

  Rule: The order of messages stays

    Scenario: A question right after the album
      When Ada sends an album of 3 pictures with the caption "Look"
      And Ada writes "And now?"
      Then the resource is asked in this order
        | who | text     | pictures |
        | Ada | Look     | 1, 2, 3  |
        | Ada | And now? |          |
      And each of them is answered once

    Scenario: Two albums in a row
      When Ada sends an album of 2 pictures with the caption "Before"
      And Ada sends an album of 9 pictures with the caption "After"
      Then the resource is asked in this order
        | who | text   | pictures                   |
        | Ada | Before | 1, 2                       |
        | Ada | After  | 1, 2, 3, 4, 5, 6, 7, 8, 9  |
      And each of them is answered once

    Scenario: Two people send albums to one group at the same time
      When Ada and Bob each send an album of 9 pictures to their group at the same time
      Then the resource is asked in this order
        | who | text | pictures                  |
        | Ada | Ada  | 1, 2, 3, 4, 5, 6, 7, 8, 9 |
        | Bob | Bob  | 1, 2, 3, 4, 5, 6, 7, 8, 9 |
      And each of them is answered once

  Rule: No death of a worker divides an album

    Scenario: A worker dies over an album
      When Ada sends an album of 10 pictures with the caption "All of them"
      And a worker leased the conversation and died
      Then the resource is asked in this order
        | who | text        | pictures                      |
        | Ada | All of them | 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 |
      And each of them is answered once
