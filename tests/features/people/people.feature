Feature: People
  One entry stands for one person, whichever channels they write by, so that the owner of the instances sees all of
  their conversations together.

  Rule: Conversations with the same proved identity are those of one person

    @grpc
    Scenario: The same phone number on two channels
      Given ada has written ann "hello" by WhatsApp
      When ada writes ann "are you there" by SMS
      Then ann has one person, with conversations by SMS, WhatsApp
      And she has the identities business-messaging, phone

    Scenario: Different identities
      Given ada has written ann "hello" by WhatsApp
      When ada writes ann "hello" by mail
      Then ann has the people Ada Lovelace, Ada

    Scenario: Two conversations of one sender
      Given ada has written ann "hello" by Slack in the channel C1
      When ada writes ann "hello" by Slack in the channel C2
      Then ann has one person, with conversations by Slack, Slack

    Scenario: A message that joins what was apart
      Given ada has written ann "hello" by WhatsApp
      And ada has written ann "hello" by mail
      When a message proves that both are hers
      Then ann has one person, with conversations by Slack, mail, WhatsApp

  Rule: Conversations of one verified user are joined where the instances ask for users

    Scenario: A user with a verified phone number and a verified mail address
      Given instances of ann on WhatsApp and mail that identify their senders, and are trusted
      And bob has verified what ada is on WhatsApp and by mail
      And ada has written ann "hello" by WhatsApp
      When ada writes ann "hello" by mail
      Then ann has one person, with conversations by mail, WhatsApp
      And she is the user bob

    Scenario: Verified between two messages
      Given instances of ann on WhatsApp and mail that identify their senders, and are trusted
      And ada has written ann "hello" by WhatsApp
      And ada has written ann "hello" by mail
      And bob has verified what ada is on WhatsApp and by mail
      When ada writes again a minute later, by WhatsApp and by mail
      Then ann has one person, with conversations by mail, WhatsApp

    Scenario: Instances that do not ask for users
      Given bob has verified what ada is on WhatsApp and by mail
      And ada has written ann "hello" by WhatsApp
      When ada writes ann "hello" by mail
      Then ann has the people Ada Lovelace, Ada

  Rule: Owners see the people of their own instances, admins those of all

    Scenario: Somebody who writes to instances of two owners
      Given ada has written ann "hello" by WhatsApp
      When ada writes bob "hello" by SMS
      Then ann has one person, with conversations by WhatsApp
      And bob has one person, with conversations by SMS
      And an admin has two people
      And bob may not see ann's person

  Rule: Who may see an instance sees its people, as they are known there

    Scenario: An instance is shared
      Given ada has written ann "hello" by WhatsApp
      And ada has written ann "hello" by SMS
      And bert has written ann "hello" by SMS
      And ann has called Ada Countess, with the label vip
      And ann shares the instance on WhatsApp with bob at level 1
      Then bob has one person, with conversations by WhatsApp
      And he sees the name Countess, the label vip and the identities business-messaging, phone
      And bob finds Countess by "4915735980001", and nobody by "bert"
      And bob may not change, split, export or erase her

    Scenario: A name that only another instance tells
      Given ada has written ann "hello" by SMS
      And ada has written ann "hello" by WhatsApp
      And ann shares the instance on SMS with bob at level 1
      Then bob has the people +4915735980001
      And bob finds nobody by "Ada"

    Scenario: Levels that allow more
      Given ada has written ann "hello" by WhatsApp
      And ada has written ann "hello" by SMS
      And ann shares the instance on WhatsApp with bob at level 3
      Then bob may not change, split, export or erase her
      When ann shares the instance on SMS with bob at level 2
      Then bob may change her, and neither export nor erase her
      When ann shares the instance on SMS with bob at level 3
      Then bob may export her, and sees his request

    Scenario: By a team
      Given ada has written ann "hello" by WhatsApp
      And ann shares the instance on WhatsApp with the team of bob at level 1
      Then bob has one person, with conversations by WhatsApp

  Rule: The latest come first, and can be looked for

    Scenario: A name, an address, a number
      Given ada has written ann "hello" by mail
      And bert has written ann "hello" by WhatsApp
      Then ann finds Ada Lovelace by "LOVELACE", by "ada@example" and by "ADA@"
      And ann finds Bert by "49157" and by "er"
      And ann finds nobody by "charles", by "100%" and by "_"
      And ann has the people Bert, Ada Lovelace

    Scenario: Pages
      Given 7 people have written to ann
      Then ann gets them in pages of 3, 3 and 1

  Rule: A person without conversations is gone

    Scenario: Their only conversation is erased
      Given ada has written ann "hello" by WhatsApp
      When ann erases the conversation by WhatsApp
      Then ann has no people

    Scenario: One of two conversations is erased
      Given ada has written ann "hello" by WhatsApp
      And ada has written ann "hello" by SMS
      When ann erases the conversation by WhatsApp
      Then ann has one person, with conversations by SMS
      And she has the identities phone

    Scenario: The instance is deleted
      Given ada has written ann "hello" by WhatsApp
      When ann deletes the instance on WhatsApp
      Then ann has no people

    Scenario: Texts are kept no longer
      Given ada has written ann "hello" by WhatsApp
      When the conversation was silent for longer than texts are kept
      Then ann has no people

  Rule: Senders are given people while the service runs

    Scenario: Nobody asks for it
      When a message of ada's is stored
      Then Ada is listed within seconds

    Scenario: A sender who cannot be stored
      Given the database refuses the sender of a message
      When ada writes ann "hello" by WhatsApp
      Then ann has the people Ada

    Scenario: Names and ids of any kind
      Given somebody whose name and id hold NUL, half a surrogate pair and 10,000 letters has written to ann
      Then ann has one person, and finds them by the beginning of the name
      And the person can be exported and erased

    Scenario: What no person writes
      When an instance of ann fires by the clock
      Then ann has no people

  Rule: Requests that are wrong are refused by the field

    Scenario: Lists
      Then ann may not list people with a query of 201 characters, a NUL character, a limit of 201 or an unknown cursor
      And people and requests with ids that none has are not found
