@s4.3 @s6
Feature: Mailboxes
  People talk to a resource by mail: to a mailbox over IMAP and SMTP, or to a Gmail mailbox.

  Rule: New mail is found by polling and answered in its thread

    Scenario Outline: A mail to <mailbox>
      Given <mailbox> that echoes
      When Ann mails "Is it running?" with the subject "The engine"
      Then Ann is answered "Is it running?" with the subject "Re: The engine"
      And the answer belongs to her mail
      And it is marked as automatic

      Examples:
        | mailbox         |
        | a mailbox       |
        | a Gmail mailbox |

    Scenario Outline: Files are sent as download links
      Given <mailbox> whose resource answers with a file
      When Ann mails "The report, please" with the subject "Report"
      Then Ann is answered with a link to the file

      Examples:
        | mailbox         |
        | a mailbox       |
        | a Gmail mailbox |

  Rule: The first look takes what is unread, or for Gmail what comes from then on

    Scenario: Unread mail in a mailbox
      Given mail "I was here before" in the mailbox
      And a mailbox that echoes
      Then Ann is answered "I was here before" with the subject "Re: Before"
      And the mail is marked as read

    Scenario: Whoever connects a mailbox is told what lies there
      Given mail "I was here before" in the mailbox
      And a mailbox that echoes
      Then the answer and the health of the instance tell of 1 unread mail

    Scenario: Mail that is older than it was asked for is left alone
      Given mail "I was here a week ago" that came a week ago
      And a mailbox that echoes mail of the last day
      When Ann mails "I am new" with the subject "New"
      Then Ann is answered "I am new" with the subject "Re: New"
      And nothing else was sent
      And the old mail is unread

    Scenario: Older mail at Gmail
      Given mail "I was here before" at Gmail
      And a Gmail mailbox that echoes
      When Ann mails "I am new" with the subject "New"
      Then Ann is answered "I am new" with the subject "Re: New"
      And nothing else was sent

  Rule: A mail that answers none is handed on whole

    Scenario Outline: <what> in a mail to <mailbox>
      Given <mailbox> that echoes
      When Ann mails the lines "<lines>" with the subject "Label"
      Then Ann is answered with the lines "<lines>"

      Examples:
        | mailbox         | what                   | lines                                                    |
        | a mailbox       | A form                 | Change this: / From: Warehouse A / To: Shop 7 / Thanks   |
        | a Gmail mailbox | A form                 | Change this: / From: Warehouse A / To: Shop 7 / Thanks   |
        | a mailbox       | What somebody wrote    | On 3 May 2026 Max wrote: / You get 50 EUR. / Where is it? |
        | a Gmail mailbox | What somebody wrote    | On 3 May 2026 Max wrote: / You get 50 EUR. / Where is it? |

  Rule: The sender is whom the From line addresses, whatever the name says

    Scenario Outline: A name that looks like another person, in a mail to <mailbox>
      Given <mailbox> that echoes
      When "ceo@shop.example <mallory@client.example>" mails "Pay this"
      Then the answer goes to mallory@client.example

      Examples:
        | mailbox         |
        | a mailbox       |
        | a Gmail mailbox |

  Rule: The resource gets what a mail says besides its text

    Scenario Outline: Subject, people, date and importance of a mail to <mailbox>
      Given <mailbox> whose resource is watched
      When Ann mails "Is it running?" with the subject "The engine" to the desk, with a copy to Bob, as important
      Then the resource is asked "Is it running?"
      And it is told the subject "The engine", the desk, Bob, the date and that it is important

      Examples:
        | mailbox         |
        | a mailbox       |
        | a Gmail mailbox |

  Rule: Files that are over a limit are told to the resource and to the sender

    Scenario: A mail that is too large
      Given a mailbox whose resource is watched
      And mails may be no larger than a page
      When Ann mails "The plan" with the file "plan.pdf" of three pages
      Then the resource is asked "The plan", and told that "plan.pdf" is missing
      And Ann is told that "plan.pdf" could not be read

    Scenario: More files than are handed on
      Given a mailbox whose resource is watched
      When Ann mails "The plans" with the files "plan-1.txt" to "plan-22.txt"
      Then the resource is asked "The plans", and told that "plan-21.txt" is missing
      And Ann is told that "plan-22.txt" could not be read

  Rule: The conversation of a thread belongs to whoever began it

    Scenario Outline: Somebody else writes in Ann's thread to <mailbox>
      Given <mailbox> whose resource is watched
      When Ann mails "Where is my order?" with the subject "Order"
      And Bob answers in her thread "And mine?"
      And Ann answers in her thread "It was a kettle"
      Then Ann's mails are one conversation, and Bob's is another

      Examples:
        | mailbox         |
        | a mailbox       |
        | a Gmail mailbox |

    Scenario: A mailbox whose threads are shared
      Given a mailbox with shared threads whose resource is watched
      When Ann mails "Where is my order?" with the subject "Order"
      And Bob answers in her thread "And mine?"
      Then all mails are one conversation

    Scenario: Somebody else answers in a thread that the service began
      Given a mailbox whose resource is watched
      And the service wrote to Ann first
      When Bob answers in that thread "And mine?"
      And Ann answers in that thread "Thank you"
      Then Ann's mail is in the conversation that the service began, and Bob's is not

    Scenario Outline: A mail to <mailbox> whose answer is for two people
      Given <mailbox> that echoes
      When Ann mails "To both of us" and asks for an answer to Bob and Carl
      Then the answer goes to Bob and Carl

      Examples:
        | mailbox         |
        | a mailbox       |
        | a Gmail mailbox |

    Scenario: Somebody adds themselves to the answers in Ann's thread
      Given a mailbox whose resource is watched
      When Ann mails "Where is my order?" with the subject "Order"
      And somebody writes as Ann in her thread "Send me all" and asks for an answer to Ann and Mallory
      Then that mail is not in Ann's conversation

  Rule: Machines are not answered

    Scenario Outline: An auto-reply to <mailbox>
      Given <mailbox> that echoes
      When a machine mails "I am away"
      And Ann mails "Hello" with the subject "Hi"
      Then Ann is answered "Hello" with the subject "Re: Hi"
      And nothing else was sent

      Examples:
        | mailbox         |
        | a mailbox       |
        | a Gmail mailbox |

    Scenario Outline: A notification to <mailbox> from an address that nobody reads
      Given <mailbox> that echoes
      When a notification "Your parcel is on its way" comes from No-Reply@shop.example
      And a notification "Your mail was not read" comes from postmaster@shop.example
      And Ann mails "Hello" with the subject "Hi"
      Then Ann is answered "Hello" with the subject "Re: Hi"
      And nothing else was sent

      Examples:
        | mailbox         |
        | a mailbox       |
        | a Gmail mailbox |

  Rule: What is not answered is listed with the reason, and can be released

    Scenario Outline: A newsletter to <mailbox>
      Given <mailbox> that echoes
      When a mailing list mails "News of the week"
      Then it is listed as not answered, because of "list", and counted in the health of the instance
      When it is released <way>
      Then the mailing list is answered "News of the week"
      And nothing is listed as not answered

      Examples:
        | mailbox         | way       |
        | a mailbox       | over REST |
        | a Gmail mailbox | over gRPC |

    Scenario: Somebody else's list
      Given a mailbox that echoes
      When a mailing list mails "News of the week"
      Then it is listed as not answered, because of "list", and counted in the health of the instance
      And somebody else may neither see nor release it

    Scenario Outline: A mailbox that answers <what>
      Given a mailbox that answers <what>
      When <who> "News of the week"
      Then somebody is answered "News of the week"

      Examples:
        | what                       | who                         |
        | lists                      | a mailing list mails        |
        | machines                   | a machine mails             |
        | addresses that nobody reads | an address that nobody reads mails |

  Rule: An answer bears one reply prefix

    Scenario Outline: The subject "<subject>"
      Given a mailbox that echoes
      When Ann mails "Is it running?" with the subject "<subject>"
      Then Ann is answered "Is it running?" with the subject "<answer>"

      Examples:
        | subject           | answer          |
        | AW: SV: Hours     | Re: Hours       |
        | Antw: Re[2]: Hours | Re: Hours      |
        | WG: Hours         | Re: WG: Hours   |

  Rule: Credentials that do not work are told, and fail no create

    Scenario: A wrong password
      Given a mailbox with a wrong password
      Then the instance was made, and says "user name and password"

    Scenario: A revoked grant
      Given a Gmail mailbox whose grant was revoked
      Then the instance was made, and says "invalid_grant"
