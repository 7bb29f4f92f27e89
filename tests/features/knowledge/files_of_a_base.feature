Feature: The files of a knowledge base
  Each file tells how far it is; it is cancelled, processed again, deleted, read beside its chunks.

  Background:
    Given ann has the base "Handbook"

  Rule: What may be uploaded is told before

    @grpc
    Scenario: Limits and formats
      When ann asks what may be uploaded
      Then the largest file, the most files and the formats are named

  Rule: A file says how far it is

    @grpc
    Scenario: Ready
      Given ann has uploaded "pumps.txt" saying "The cooling pump is serviced in March."
      When ann asks how far her files are
      Then "pumps.txt" is ready, with 1 chunk and nothing ahead of it

    Scenario: A list goes on from its cursor
      Given ann has uploaded "pumps.txt" saying "The cooling pump is serviced in March."
      And ann has uploaded "valves.txt" saying "Valves are stored in the cellar."
      When ann asks how far her files are, one at a time
      Then she is shown "valves.txt", then "pumps.txt", then nothing more

    Scenario: A list shows a part of the files, of their fields, and of their names
      Given ann has uploaded "pumps.txt" saying "The cooling pump is serviced in March."
      And ann has uploaded "valves.txt" saying "Valves are stored in the cellar."
      And ann has uploaded "PUMP_2.txt" saying "The second pump is a spare."
      Then a list of the files shows
        | with                           | files                              | texts |
        | no wish                        | pumps.txt, valves.txt, PUMP_2.txt  | yes   |
        | two files at most              | pumps.txt, valves.txt              | yes   |
        | two files after the first      | valves.txt, PUMP_2.txt             | yes   |
        | names and states alone         | pumps.txt, valves.txt, PUMP_2.txt  | no    |
        | names that hold "pump"         | pumps.txt, PUMP_2.txt              | yes   |
        | names that hold "P_2"          | PUMP_2.txt                         | yes   |
        | names that hold "%"            | nothing                            | yes   |

  Rule: A part that cannot be read costs that part

    Scenario: A mail with a broken attachment
      Given ann has uploaded a mail saying "The cooling pump is serviced in March." with the damaged attachment "plan.pdf"
      Then the mail is ready, with the warning that "plan.pdf" is damaged

  Rule: A file is deleted with all that was made of it

    @grpc
    Scenario: Deleted
      Given ann has uploaded "pumps.txt" saying "The cooling pump is serviced in March."
      When ann deletes the file
      Then the request is "done without a body"
      And nothing is left of "Handbook"

    Scenario: Only who may change the base deletes its files
      Given ann has uploaded "pumps.txt" saying "The cooling pump is serviced in March."
      When bob sends DELETE to the file
      Then the request is "forbidden"

  Rule: Only what failed is processed again

    Scenario: A file that is ready
      Given ann has uploaded "pumps.txt" saying "The cooling pump is serviced in March."
      When ann has the file processed again
      Then the request is "conflict"

    Scenario: A file that failed
      Given ann has uploaded the empty document "pumps.html" without waiting, and it failed
      When ann has the file processed again
      Then the request is "accepted"
      And at last the file has failed again

  Rule: A text is read with its chunks

    @grpc
    Scenario: Every chunk stands where the answer says
      Given ann has uploaded "pumps.txt" saying "The cooling pump is serviced in March."
      When ann reads the file's text
      Then its one chunk is the whole text "The cooling pump is serviced in March."

  Rule: A search can be explained

    Scenario: Both scores, ranks and highlights
      Given ann has uploaded "pumps.txt" saying "The cooling pump is serviced in March."
      And ann has uploaded "valves.txt" saying "Valves are stored in the cellar."
      When ann has the search for "cooling pumps" explained
      Then the first hit is from "pumps.txt", found first by both searches
      And in it "cooling" and "pump" are highlighted
      And the explained hits come in the order of the search
