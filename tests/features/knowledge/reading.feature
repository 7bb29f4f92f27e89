@s2.9 @s2.10 @s4.6
Feature: Reading files and chunks
  What was uploaded can be read again: the bytes, the record, the chunks.

  Background:
    Given ann has the base "Handbook"
    And ann has uploaded a text of 30 paragraphs as "Pläne \"A\".txt"

  Rule: A file comes back as it was

    @grpc
    Scenario: Download
      When ann downloads the file
      Then the request is "done"
      And the bytes are those of the upload, as application/octet-stream
      And the attachment is named "Pläne "A".txt"

    Scenario Outline: A part of it
      When ann downloads the file with the range <range>
      Then the request is "<outcome>"
      And the bytes are those from <from> to <to>

      Examples:
        | range     | outcome | from | to |
        | bytes=2-8 | a part  | 2    | 9  |
        | bytes=0-0 | a part  | 0    | 1  |

    Scenario: A part that does not exist
      When ann downloads the file with the range bytes=99999999-
      Then the request is "out of range"
      And the error names "range"

    Scenario: How large it is, without the bytes
      When ann asks for the head of the download
      Then the request is "done"
      And the head tells the size and nothing follows

    Scenario: What ann has already is not sent again
      When ann downloads the file
      And ann downloads the file again if it has changed
      Then the request is "unchanged"

    @grpc
    Scenario: The record
      When ann asks for the file
      Then the request is "done"
      And the record has the hash, the text, the path and the name of the file

  Rule: Chunks come in document order and in pages

    @grpc
    Scenario: Page by page
      When ann asks for the chunks with limit 2 and offset 2
      Then the request is "done"
      And the page is 2 of all chunks in steps of 2
      And each chunk has an id of a time and a UUID, the file's id and the uploader ann

    @grpc
    Scenario: Five without a limit
      When ann asks for the chunks
      Then the request is "done"
      And the pagination says limit 5 and offset 0

    Scenario Outline: Windows that make no sense
      When ann sends GET to /api/agent/kb/chunks/<path>
      Then the request is "<outcome>"

      Examples:
        | path             | outcome   |
        | {hash}?limit=0   | invalid   |
        | {hash}?limit=x   | invalid   |
        | {hash}?offset=-1 | invalid   |
        | unknown          | not found |

  Rule: A text comes in pieces

    @grpc
    Scenario: Piece by piece
      When ann reads the text in pieces of 700 characters
      Then the pieces are the whole text, and each tells how much remains

    Scenario Outline: Pieces that make no sense
      When ann sends GET to /api/agent/kb/file/<path>
      Then the request is "<outcome>"

      Examples:
        | path                            | outcome   |
        | {hash}/text?limit=0             | invalid   |
        | {hash}/text?limit=50001         | invalid   |
        | {hash}/text?offset=-1           | invalid   |
        | {hash}/text?offset=2147483647   | done      |
        | unknown/text                    | not found |

  Rule: What does not exist is not found, in these words

    Scenario Outline: Unknown ids
      When ann sends GET to <path>
      Then the request is "not found"
      And the error is "<error>"

      Examples:
        | path                        | error           |
        | /api/agent/kb/file/unknown  | File not found  |
        | /api/agent/kb/download/unknown | File not found |
        | /api/agent/kb/chunk/unknown | Chunk not found |
        | /api/agent/kb/chunk/1-2     | Chunk not found |
