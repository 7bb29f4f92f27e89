@s4.6
Feature: Manuals as PDF files
  What stands on the edges of pages, and lists of pages, help a reader of paper; a search is not answered with them.

  Background:
    Given ann has the base "Handbook"
    And ann has uploaded a manual with a title page, a table of contents, running headers and page numbers

  Rule: A chunk is called by the manual's title

    Scenario: The title on the first page
      When ann asks for the chunks of the manual
      Then each chunk has the title "Rules of the harbour of Aberwyth"

  Rule: Running headers, page numbers and the table of contents are no chunks

    Scenario: They are left out
      When ann asks for the chunks of the manual
      Then no chunk holds the table of contents or a page number

    Scenario: They stand in the text of the file
      When ann asks for the file
      Then its text holds the table of contents and the page numbers

    Scenario Outline: A search for <what> finds the text
      When ann looks for "<words>" in the manual
      Then the first passage holds "<passage>"

      Examples:
        | what                                       | words     | passage                    |
        | a section                                  | mooring   | A berth is given           |
        | a number that stands in the headers alone  | QX-4711   | Ships take a pilot on board |
