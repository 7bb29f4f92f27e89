@s4.6
Feature: Another embedding model
  A base is searched by the vectors that it has until those of the new model are all there.

  Background:
    Given ann has the base "Handbook"
    And ann has uploaded "pumps.txt" saying "The cooling pump of hall seven is serviced every March."
    And ann has uploaded "valves.txt" saying "Spare valves are stored in the cellar."

  Rule: Searches go on while chunks are embedded anew

    Scenario: The installation takes another model into use
      When the installation takes another embedding model into use
      Then by meaning alone "service of the cooling pump" finds "pumps.txt" first
      When all chunks have been embedded anew
      Then by meaning alone "service of the cooling pump" finds "pumps.txt" first

    Scenario: A file comes while the model is changed
      When the installation takes another embedding model into use
      And ann uploads "cranes.txt" saying "The crane in the yard lifts forty tonnes."
      Then by meaning alone "crane that lifts tonnes" finds "cranes.txt" first
      When all chunks have been embedded anew
      Then by meaning alone "crane that lifts tonnes" finds "cranes.txt" first
