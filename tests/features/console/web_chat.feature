Feature: The web chat in the visitor's browser
  A website has the chat in its pages, by one tag. The service is at another address than the website.

  Scenario: An answer grows before the visitor's eyes, also after a reload in the middle of it
    Given a website with the chat
    And a resource that answers piece by piece
    When a visitor writes "When does the ferry leave?"
    And the resource has said "The ferry leaves" so far
    Then the visitor reads "The ferry leaves"
    When the visitor loads the page again
    And the resource has said "The ferry leaves **at noon**." in the end
    Then the visitor reads "The ferry leaves at noon."
    And the visitor sees 2 messages and the greeting

  @narrow
  Scenario: A press of a button decides, and the answer has a file
    Given a website with the chat
    And a resource that wants to know whether it may use its printer
    When a visitor writes "print my ticket"
    And presses the button "Approve"
    Then the visitor reads "Here is your ticket."
    And the visitor can open the file "ticket.txt", in which stands "Pier 1"

  Scenario: The visitor sends a file
    Given a website with the chat
    When a visitor sends the file "map.txt"
    Then the resource gets the file "map.txt"
    And the visitor sees the file "map.txt" among the messages

  Scenario: What is written without a network is sent when it is back, once
    Given a website with the chat
    When a visitor writes "first"
    Then the visitor reads "I heard: first"
    When the network of the visitor is gone
    And the visitor writes on: "second"
    Then the panel says "You are offline"
    When the network of the visitor is back
    Then the visitor reads "I heard: second"
    And the resource was asked 2 times

  Scenario: Two tabs show one conversation
    Given a website with the chat
    When a visitor writes "from the first tab"
    And opens the page in a second tab
    Then the visitor reads "I heard: from the first tab"
    When the visitor writes on: "from the second tab"
    Then the visitor reads "I heard: from the second tab" in the first tab

  Scenario: A person whom the website knows finds the conversation in any browser
    Given a website with the chat that signs who its visitors are
    When a visitor who is signed in as "maria" writes "my order"
    And "maria" opens the page in another browser
    Then the visitor reads "I heard: my order"

  Scenario: A forged signature opens no conversation
    Given a website with the chat that signs who its visitors are
    When a visitor opens the page with a signature of somebody else's secret
    Then the panel says "Your sign-in was not accepted"
    And the visitor cannot write

  Scenario: A website that is not allowed gets no conversation
    Given a website with the chat of an instance that allows another website
    When a visitor opens the page
    Then the panel says "This website may not use this chat"
