Feature: Search with options
  A search says how many results it wants, from which files, how many of each, by which of the two searches, and how
  similar they have to be. A result says what both searches think of it, where it stands, and where to fetch its file.

  Background:
    Given ann has the base "Handbook" with the files
      | file        | heading | text                                                                  |
      | pumps.md    | Service | The cooling pump of hall seven is serviced every March by two people. |
      | pumps.md    | Faults  | A cooling pump that runs dry is switched off and reported at once.    |
      | pumps.md    | Spares  | A second cooling pump is kept in the cellar behind the brass valves.  |
      | valves.md   | Valves  | Valves of the cooling circuit are opened slowly.                      |
      | canteen.md  | Lunch   | The canteen serves lunch from noon, far away from every pump.         |

  Rule: The answer has the results that are wanted

    Scenario: How many, from where, and how similar
      Then a search for "cooling pump" gives, with
        | wish                                      | files                                 |
        | one result at most                        | pumps.md                              |
        | three results of one file at most         | pumps.md, pumps.md, pumps.md, valves.md, canteen.md |
        | one result of each file                   | pumps.md, valves.md, canteen.md       |
        | two results of each file, three at most   | pumps.md, pumps.md, valves.md         |
        | only the file valves.md                   | valves.md                             |
        | only a file that the base does not have   | nothing                               |
        | similar results alone                     | pumps.md, pumps.md, pumps.md          |

  Rule: Each of the two searches can be asked alone

    Scenario: Words alone
      When ann searches for "cooling pump" with the words alone
      Then each result has a score by words, which is its similarity, and none by meaning

    Scenario: Meaning alone
      When ann searches for "cooling pump" with the meaning alone
      Then each result has a score by meaning, which is its similarity, and none by words

    Scenario: Meaning alone finds nothing for a script that the model does not know
      When ann searches for "أين المضخة" with the meaning alone
      Then there are no results

  Rule: A result tells all that one needs to show it

    Scenario: Scores, words and place
      When ann searches for "switched off" with the words highlighted
      Then the similarity of each result is the higher of its scores
      And in the first result "switched" and "off" are highlighted
      And the first result stands under the heading "Faults" of "pumps.md"

    Scenario: Without asking, no words are highlighted
      When ann searches for "switched off" with one result at most
      Then no words are highlighted

    Scenario: The file is fetched without a key, until it is deleted
      When ann searches for "canteen lunch" with one result at most
      Then the link of the result gives the file without a key
      When ann deletes the file, which another base has too
      Then the link of the result gives nothing any more

  Rule: Options open nothing that is closed

    Scenario: Files of another base are not searched
      When ann searches in another base of hers for "cooling pump" with only the file valves.md
      Then there are no results
