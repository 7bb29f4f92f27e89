Feature: Knowledge bases in the console
  An editor gathers files, sees them become searchable, and finds out what is found for a question, and why.

  @narrow
  Scenario: From an empty page to a found answer
    Given ann sees that there is no knowledge base yet
    When she creates "Handbook" by keyboard alone
    And she drops the folder of manuals on the page
    Then "pumps.md" and "valves.txt" become ready
    When she asks "where is the cooling pump"
    Then the answer cites "pumps.md"
    When she searches for "where is the cooling pump"
    Then the first hit is from "pumps.md", with "pump" highlighted
    When she follows the hit to its place
    Then the chunk about the cooling pump is marked in the text of "pumps.md"

  Scenario: A place in the queue, and a way out of it
    Given ann's base "Handbook" while nothing is read
    When she adds "pumps.md" and then "valves.txt"
    Then "pumps.md" has place 1 in the queue and "valves.txt" place 2
    When half of "pumps.md" is read
    Then the progress of "pumps.md" moves, and what she would click stays where it is
    When she cancels "valves.txt"
    And files are read again
    Then "pumps.md" is ready and nothing else is listed
    And the page was never loaded again
    When she adds "pumps.md" once more
    Then she is told that the base has it already

  Scenario: Files chosen while the page is still loading are sent
    Given ann's base "Handbook"
    When she adds "pumps.md" before the page is whole
    Then "pumps.md" is ready and nothing else is listed

  Scenario: What cannot be taken is said beside the file
    Given ann's base "Handbook"
    When she adds "tool.exe"
    Then beside "tool.exe" it is said that the format is not supported

  Scenario: Deleting asks first
    Given ann's base "Handbook"
    When she deletes the base and answers the question
    Then she is told that "Handbook" was deleted, and no base is listed
