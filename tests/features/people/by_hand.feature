Feature: People joined and divided by hand
  What no identity proves, whoever answers may know: that two entries are one person, or that one entry is two.

  Rule: Name, language and labels are set by hand

    @grpc
    Scenario: Set, and taken back
      Given ada has written ann "hello" by WhatsApp
      When ann calls her Countess, with the language fr and the labels vip, maths
      Then she is called Countess, with the language fr and the labels vip, maths
      And ann finds Countess by "countess" and by "ada"
      And ann finds Countess by the label maths, and nobody by the label chess
      When ann takes name and labels back
      Then she is called Ada, with the language fr and no labels

    Scenario: A new message leaves what was set by hand
      Given ada has written ann "hello" by WhatsApp
      And ann has called her Countess
      When ada writes ann "hello" by SMS
      Then ann has the people Countess

    Scenario: Fields that are wrong
      Given ada has written ann "hello" by WhatsApp
      Then ann may not set a name of 201 characters, a blank name, 21 labels or a label of two lines

  Rule: Others become one person

    @grpc
    Scenario: Two entries
      Given ada has written ann "hello" by Telegram
      And ada has written ann "hello" by mail
      And ann has labelled the person by Telegram vip, and the person by mail late
      When ann merges the person by mail into the person by Telegram
      Then ann has one person, with conversations by Telegram, mail
      And she has the labels late, vip
      And the person by mail is not found under the former id
      When ada writes ann "again" by mail
      Then ann has one person, with conversations by Telegram, mail

    Scenario: Merges that are refused
      Given ada has written ann "hello" by Telegram
      And bert has written bob "hello" by mail
      Then ann may not merge her with bob's person
      And an admin may not merge people of ann and bob
      And ann may not merge her with nobody, with herself or with somebody unknown

  Rule: A part becomes a person of its own

    @grpc
    Scenario: An identity
      Given ada has written ann "hello" by WhatsApp
      And ada has written ann "hello" by SMS
      And ada has written ann "hello" by mail
      And ann has merged the person by mail into the person by WhatsApp
      When ann splits the identity email from her
      Then ann has two people, one with conversations by SMS, WhatsApp, one with mail

    Scenario: A conversation
      Given ada has written ann "hello" by WhatsApp
      And ada has written ann "hello" by SMS
      When ann splits the conversation by SMS from her
      Then ann has two people, one with conversations by WhatsApp, one with SMS
      When ada writes again a minute later, by WhatsApp and by SMS
      Then ann has two people, one with conversations by WhatsApp, one with SMS

    Scenario: Splits that are refused
      Given ada has written ann "hello" by WhatsApp
      Then ann may not split her only conversation, an unknown one, or nothing from her
      And bob may not split a conversation from her

  Rule: Changes are in the audit log, without what they say of the person

    Scenario: A name
      Given ada has written ann "hello" by WhatsApp
      When ann calls her Countess, with the language fr and the labels vip, maths
      Then the audit log has a change of name, language, labels by ann, without the word Countess
