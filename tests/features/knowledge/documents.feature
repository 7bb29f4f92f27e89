Feature: Reading documents
  What is found is what the document says: with the names of its columns, and with a word about what could not be read.

  Background:
    Given ann has the base "Handbook"

  Rule: A table is read with the names of its columns, wherever they stand

    Scenario Outline: Names below <what>
      When ann uploads a table of prices below <what>
      Then the file says "Item: Kelp | Price: 5.50 EUR"

      Examples:
        | what                |
        | nothing             |
        | a title             |
        | a form              |
        | a date of export    |

  Rule: A workbook is read as it is shown

    Scenario: Numbers, codes and dates
      When ann uploads a workbook that shows "00042", "19 %" and "05.01.2027"
      Then the file says "Code: 00042 | Tax: 19 % | Since: 05.01.2027"

    Scenario: A formula that nobody has calculated
      When ann uploads a workbook with a formula that nobody has calculated
      Then the file says "not calculated"
      And it is ready, with a warning about "formula"

  Rule: What is no text is not taken for text

    Scenario: A form that asks to wait
      When ann uploads a form whose page says "Please wait..." and whose field says "Ada Quill"
      Then the file says "Ada Quill"
      And the file does not say "Please wait"
      And it is ready, with a warning about "form"
