Feature: Web chat
  Visitors of a website write in a panel there and see the answers as they are made.

  Rule: A visitor writes and sees the answer, without an account anywhere

    Scenario: A first message on a website
      Given a website shows the chat of ann's instance
      When a visitor opens the chat and writes "How late is it?"
      Then the panel shows the question and below it "You said: How late is it?"

    Scenario: The page is loaded again
      Given a visitor has asked "How late is it?" and got an answer
      When the visitor loads the page again
      Then the panel shows the question and below it "You said: How late is it?"

    Scenario: Two tabs of one visitor
      Given a visitor has the chat open in two tabs
      When the visitor writes "How late is it?" in one of them
      Then both tabs show the question and the answer

    Scenario: Two hundred visitors at once
      When 200 visitors open the chat, and each asks a question of their own
      Then each of them reads the own question and its answer, and nothing else

    Scenario: The network was off for a while
      Given a visitor has asked "How late is it?" and got an answer
      When the visitor's network is off while the answer to another question comes
      Then after the network is back the panel shows both answers, each once

    Scenario: The same message is sent twice, as the network broke
      When a visitor's message "How late is it?" arrives twice
      Then it is answered once, and shown once

    Scenario: A visitor who only looks
      When a visitor opens the chat and writes nothing
      Then nothing is stored of the visitor

  Rule: An answer is seen while it is made

    Scenario: An answer in pieces
      Given a visitor has asked something that takes a while to answer
      When the resource has said "Two ye"
      Then the panel shows "Two ye" as unfinished
      When the resource has said "Two years." and is done
      Then the panel shows "Two years." in its place

    Scenario: The page is loaded again in the middle of an answer
      Given a visitor has asked something that takes a while to answer
      And the resource has said "Two ye"
      When the visitor loads the page again
      Then the panel shows "Two ye" as unfinished
      When the resource has said "Two years." and is done
      Then the panel shows "Two years." in its place

    Scenario: Somebody is writing
      Given a visitor has asked something that takes a while to answer
      Then the panel shows that an answer is being written

  Rule: Buttons and files go both ways

    Scenario Outline: A choice is pressed twice, <when>
      Given a visitor has been asked "Which one?" with the choices "Small" and "Large"
      When the visitor presses "Large" twice, <when>
      Then the resource gets "Large" as a choice, once

      Examples:
        | when          |
        | at once       |
        | after a while |

    Scenario: A choice that was never offered
      Given a visitor has been asked "Which one?" with the choices "Small" and "Large"
      When the visitor writes "Delete everything" as the choice "never-offered"
      Then the resource gets "Delete everything" as a message without a choice

    Scenario: An approval by a button
      Given a visitor has asked for something that needs an approval
      When the visitor presses "Approve"
      Then the tool is used, and the question has no buttons any more

    Scenario: A file of a visitor
      When a visitor writes "Read this" with the file "plan.txt"
      Then the resource gets the file "plan.txt" with its content
      And the panel shows the question with the file

    Scenario: A file in an answer
      Given the resource answers with the file "offer.txt"
      When a visitor opens the chat and writes "Make me an offer"
      Then the panel shows a link to "offer.txt", which can be fetched

  Rule: People may be known

    Scenario: A visitor whom the site signed
      Given the site signs its visitor 42 as Ann with the address "ann@example.com"
      When this visitor writes "How late is it?"
      Then the resource is told that Ann wrote

    Scenario: A signed visitor on another computer
      Given the site signs its visitor 42 as Ann with the address "ann@example.com"
      And this visitor has written "How late is it?"
      When the same person opens the chat on another computer
      Then the panel shows the question and below it "You said: How late is it?"

    Scenario: Somebody who makes an identity up
      When somebody opens the chat with an identity that the site has not signed
      Then the session is refused, with a sentence that says so

    Scenario: A site that signs the address of somebody else
      Given bob has verified "bob@example.com", and ann's instance identifies its users
      When the site signs a visitor with the address "bob@example.com", who writes
      Then the resource is told of no user, and that the owner of the instance proves who writes

    Scenario: Only verified users are served
      Given the instance is trusted and serves only verified users, and bob has verified "bob@example.com"
      When the site's visitor with the address "bob@example.com" and an anonymous visitor write
      Then only the first of them is answered by the resource

  Rule: The chat belongs to the site and to its visitors

    Scenario: A page of somebody else
      When a page of another origin opens the chat
      Then the session is refused, with a sentence that says so

    Scenario: The console of the service itself
      When a page of the service itself opens the chat
      Then the session is opened

    Scenario: Another visitor's conversation
      Given a visitor has asked "How late is it?" and got an answer
      When somebody reads with a token for that visitor that was made up
      Then reading is refused, and nothing of the conversation is shown

    Scenario: The chat of another instance
      Given a visitor has asked "How late is it?" and got an answer
      When somebody uses the visitor's token with another instance
      Then reading is refused, and nothing of the conversation is shown

  Rule: People of the site take part

    Scenario: A message to a visitor who is known
      Given a visitor has asked "How late is it?" and got an answer
      When ann writes "We are closing soon." to the visitor
      Then the panel shows "We are closing soon." from a person

    @grpc
    Scenario: A conversation that is erased
      Given a visitor has asked "How late is it?" and got an answer
      When ann erases the conversation
      Then the panel is empty, and stays so when the page is loaded again

    Scenario: A conversation that is old
      Given a visitor has asked "How late is it?" and got an answer
      When the conversation is older than conversations are kept
      Then the panel is empty, and stays so when the page is loaded again

    Scenario: An instance that is deleted
      Given a visitor has asked "How late is it?" and got an answer
      When ann deletes the instance
      Then the visitor's stream ends, and the chat cannot be opened any more
