Feature: Drive folders in a knowledge base
  The files of a Google Drive folder are fed into a base, and leave it when they leave the folder.

  Background:
    Given ann has the base "Handbook"
    And the folder has the file "pumps.txt" saying "The cooling pump is serviced in March."

  Rule: The base follows the folder

    Scenario: What is there already is read, and read again when it changes
      When ann has the folder fed into the base
      Then at last the base has the files "pumps.txt"
      When the file "pumps.txt" is changed to say "Valves are stored in the cellar."
      And the folder is looked at again
      Then at last a search for "valves cellar" finds only "pumps.txt"
      And nothing is found for "cooling"

    Scenario: Renamed, added and thrown away
      When ann has the folder fed into the base
      Then at last the base has the files "pumps.txt"
      When the file "pumps.txt" is renamed to "machines.txt"
      And the folder has the file "valves.txt" saying "Valves are stored in the cellar."
      And the folder is looked at again
      Then at last the base has the files "machines.txt, valves.txt"
      When the file "machines.txt" is thrown away
      And the folder is looked at again
      Then at last the base has the files "valves.txt"

    Scenario: What cannot be read says so
      Given the folder has a film "opening.mp4"
      When ann has the folder fed into the base
      Then at last the base has the files "pumps.txt"
      And the source says of "opening.mp4" that "videos are not read"

  Rule: Only who may change a base feeds it

    Scenario: A base of somebody else
      When bob has the folder fed into the base
      Then the request is "invalid"
      And the error names "knowledgeBaseId"

  Rule: A folder is removed where it was set

    Scenario: A channel feeds it
      When ann has the folder fed into the base
      Then at last the base has the files "pumps.txt"
      When ann removes the source
      Then the request is "conflict"
