Feature: Trying a resource in the browser
  The console makes a web chat of one's own for it, and shows it in the page.

  @narrow
  Scenario: Somebody writes to a resource before anything is connected
    Given ann has signed in and opens the page "Try it"
    When she asks for the resource "agent::echo", by keyboard alone
    And she writes "Is anybody there?" in the chat
    Then the chat answers "Is anybody there?"
    When she asks for the resource "agent::echo" again
    Then the chat shows what was said before
    And she has one web chat, with the name "Try it: agent::echo"
    When she begins a new conversation
    Then the chat shows nothing of what was said before

  Scenario: The resource of a channel is one press away
    Given bob has a webhook with the name "Orders" and the resource "agent::orders"
    And bob has signed in and opens the page "Try it"
    When he presses "Orders"
    Then the chat says that "agent::orders" answers

  Scenario: An id that is none is refused beside the field
    When ann asks for the resource "robot::<7>" without a browser's help
    Then the page keeps "robot::<7>" and says what ids look like

  Scenario: Nobody sees the chat of somebody else
    Given bob has a web chat
    Then ann may not open it
    And a chat that does not exist is not found

  Scenario: The chat works under whichever name the console is opened
    Given bob has a web chat
    Then a page of the service opens it, by any name of the service
    And a page of another website does not
