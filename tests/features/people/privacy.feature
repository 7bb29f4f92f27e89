Feature: Exports and erasures of people
  Under privacy law a person may ask for all that is on record of them, and that it is erased, whichever channels they
  wrote by. Both is worked on in the background.

  Rule: An export holds every text, file and identity

    @grpc
    Scenario: A person on three channels
      Given ada has written ann by WhatsApp and SMS and was answered, and by mail with an attachment
      And ann has joined all of it to one person, called Countess, with the label vip
      When ann exports her
      Then the export is done, with 3 of 3 conversations
      And the ZIP holds the texts of both directions, the attachment, and all identities
      And the ZIP holds the name Countess and the label vip
      And the ZIP tells the vote and the mail that was not answered

    Scenario: A conversation with others
      Given ada and bert have written ann in the channel C1 by Slack
      When ann exports ada
      Then the ZIP holds what ada wrote and not what bert wrote

    Scenario: Names of files
      Given ada has sent ann files by mail that are called "../../etc/passwd", "CON<>.txt" and "a.txt" twice
      When ann exports her
      Then each file has a place of its own below the folder of the conversation

    Scenario: Long conversations
      Given ada has written ann 450 messages by SMS
      When ann exports her
      Then the ZIP holds all 450 texts, in their order

    Scenario: The file expires
      Given ada has written ann "hello" by WhatsApp
      When ann exports her
      And the days of files of messages are over
      Then the address leads nowhere, and none is told any more

    Scenario: Asked twice
      Given ada has written ann "hello" by WhatsApp
      And exports take their time
      When ann exports her twice
      Then both are the same request

  Rule: After an erasure nothing of the person is left

    @grpc
    Scenario: Everything that a person can have
      Given ada has written ann by WhatsApp and SMS and was answered, and by mail with an attachment
      And ann has joined all of it to one person, called Countess, with the label vip
      And ann has subscribed to events, which are pushed to an address that takes none
      And an answer to ada was given up
      And ann has exported her
      When ann erases her
      Then the erasure is done, with 3 of 3 conversations
      And no table and no file holds a marker of ada
      And the address of the export leads nowhere

    Scenario: Others stay
      Given ada has written ann "hello" by WhatsApp
      And bert has written ann "hello" by WhatsApp
      And ada has written bob "hello" by SMS
      When ann erases Ada
      Then ann has the people Bert
      And bob has one person, with conversations by SMS

    Scenario: The account of a user stays
      Given ada has written ann "hello" by mail
      And bob has verified what ada is by mail
      When ann erases Ada Lovelace
      Then bob still has the verified address

    Scenario: Erased again
      Given ada has written ann "hello" by WhatsApp
      When ann erases Ada
      Then erasing her again is answered with the same request
      And bob may not see the request

    Scenario: She writes again
      Given ada has written ann "hello" by WhatsApp
      And ann has called her Countess
      When ann erases Countess
      And ada writes ann "hello again" by WhatsApp
      Then ann has the people Ada
      And she is another person than before

  Rule: What was begun is finished

    Scenario: The process dies during an erasure
      Given ada has written ann "hello" by WhatsApp
      And ada has written ann "hello" by SMS
      And ada has written ann "hello" by Slack in the channel C1
      And ann has joined all of it to one person, called Countess, with the label vip
      And the process hangs after the first conversation
      When ann begins to erase her
      And 1 of 3 conversations is done when the process dies and is started again
      Then the erasure is done, with 3 of 3 conversations
      And ann has no people

    Scenario: The process dies during an export
      Given ada has written ann "hello" by WhatsApp
      And exports take their time
      When ann begins to export her
      And the process dies and is started again
      Then the export is done, with 1 of 1 conversations

    Scenario: A conversation is erased during an export
      Given ada has written ann "first" by WhatsApp
      And ada has written ann "second" by SMS
      And exports take their time
      When ann begins to export her
      And ann erases the conversation by WhatsApp while it is written
      Then the export is done, with 1 of 1 conversations
      And the ZIP holds the text second and not the text first

    Scenario: There is no room for an export
      Given ada has written ann "hello" by WhatsApp
      And there is no room for files
      When ann begins to export her
      Then the export is tried again, and says that there is no room

  Rule: Only owners and admins export and erase, and it is on record who did

    Scenario: Another user
      Given ada has written ann "hello" by WhatsApp
      Then bob may neither export nor erase her
      And an admin may export her
      And the audit log has an export of her by admin
