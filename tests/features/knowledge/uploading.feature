@s2.9 @s4.6
Feature: Uploading files
  An upload stores, parses, chunks and embeds its files: all of them, or none.

  Background:
    Given ann has the base "Handbook"

  Rule: The answer comes once every file can be found

    Scenario: A single file
      When ann uploads "pumps.txt" saying "The cooling pump is serviced in March."
      Then the request is "created"
      And the file's id is the SHA-256 of its bytes, at the top and in the list
      And a search for "cooling pump" finds "pumps.txt"

    Scenario: Several files under any field name
      When ann uploads these files:
        | field | name     | text                       |
        | file  | one.txt  | All about turbines.        |
        | blob  | two.md   | # Valves\n\nAll of them.   |
        | x[]   | three.csv | part,price\npump,7         |
      Then the request is "created"
      And 3 files are listed as ready
      And the answer names no file at its top

    Scenario: Without waiting
      When ann uploads "pumps.txt" saying "The cooling pump is serviced in March." without waiting
      Then the request is "accepted"
      And each file of the answer has the status "processing"
      And at last the file is ready

  Rule: One bad file refuses the whole upload, named

    @grpc
    Scenario Outline: What cannot be taken in
      When ann uploads "good.txt" saying "A good file." together with "<name>" holding <bytes>
      Then the request is "<outcome>"
      And the error names "<name>"
      And no files are listed

      Examples:
        | name      | bytes              | outcome     |
        | empty.txt |                    | unreadable  |
        | tool.exe  | 4d5a900003000000   | unsupported |
        | doc.pdf   | 255044462d312e340a | unreadable  |
        | text.pdf  | 6a7573742074657874 | unreadable  |

    Scenario: No files
      When ann uploads nothing
      Then the request is "invalid"
      And the error is "No files uploaded"

    @grpc
    Scenario: A file over the limit
      When ann uploads "big.txt" of 1100000 bytes
      Then the request is "too large"
      And the error names "big.txt"
      And no files are listed

    Scenario: More files than the limit
      When ann uploads 4 files
      Then the request is "too large"
      And no files are listed

  Rule: Where there is no room, an upload is refused for the moment

    Scenario Outline: The disk of <what> is full
      Given the disk of <what> is full
      When ann uploads "pumps.txt" saying "There is no room for these words about <what>."
      Then the request is "away"
      And the error names "<words>"
      And the answer asks to wait
      And nothing of it stays behind

      Examples:
        | what         | words                           |
        | the service  | the disk of the service is full |
        | the database | the disk of the database is full |

  Rule: A multipart body is read or refused in words

    Scenario: A file name of 5000 characters is shortened
      When ann uploads a file whose name has 5000 characters and ends in ".txt"
      Then the request is "created"
      And the file's name has 255 characters and ends in ".txt"

    Scenario Outline: A boundary that is <fault>
      When ann uploads a file with a boundary of <length> characters
      Then the request is "invalid"
      And the error names "boundary"

      Examples:
        | fault    | length |
        | missing  | 0      |
        | too long | 300    |

    Scenario: Headers of a part that are too long
      When ann uploads a file whose name has 100000 characters and ends in ".txt"
      Then the request is "invalid"
      And the error names "64 KB"
      And no files are listed

  Rule: The same bytes are one file in a base

    Scenario: Uploaded twice
      Given ann has uploaded "pumps.txt" saying "The cooling pump is serviced in March."
      When ann uploads "pumps.txt" saying "The cooling pump is serviced in March."
      Then the request is "created"
      And 1 files are listed as ready

    @grpc
    Scenario: Uploaded again under another name
      Given ann has uploaded "pumps.txt" saying "The cooling pump is serviced in March."
      When ann uploads "pumps-2026.txt" saying "The cooling pump is serviced in March."
      Then the request is "created"
      And the upload is called "pumps-2026.txt"
      And the one file is called "pumps-2026.txt" in the list, in its record and in downloads

    Scenario: Uploaded again under another name, with a new file
      Given ann has uploaded "pumps.txt" saying "The cooling pump is serviced in March."
      When ann uploads these files:
        | field | name           | text                                   |
        | a     | pumps-2026.txt | The cooling pump is serviced in March. |
        | b     | fans.txt       | The fan is serviced in May.            |
      Then the request is "created"
      And the files are called "fans.txt" and "pumps-2026.txt"

    @grpc
    Scenario: Uploaded again under another name, with a file that is refused
      Given ann has uploaded "pumps.txt" saying "The cooling pump is serviced in March."
      When ann uploads these files:
        | field | name           | text                                   |
        | a     | pumps-2026.txt | The cooling pump is serviced in March. |
        | b     | fans.pdf       | The fan is serviced in May.            |
      Then the request is "unreadable"
      And the files are called "pumps.txt"

    Scenario: Uploaded again under another name without waiting
      Given ann has uploaded "pumps.txt" saying "The cooling pump is serviced in March."
      When ann uploads "pumps-2026.txt" saying "The cooling pump is serviced in March." without waiting
      Then the request is "accepted"
      And the files are called "pumps-2026.txt"

  Rule: What is refused anyway is refused before a byte of the upload is read

    Scenario Outline: <what>
      Given ann has the base "Manuals"
      When <user> begins an upload to <base>, announcing <size> MB
      Then the request is "<outcome>"
      And no byte of it was read

      Examples:
        | what                         | user   | base     | size | outcome   |
        | somebody else's base         | bob    | the base | 1    | forbidden |
        | a base that is not there     | ann    | no base  | 1    | not found |
        | no key                       | nobody | the base | 1    | not known |
        | more than all files may have | ann    | the base | 5000 | too large |
