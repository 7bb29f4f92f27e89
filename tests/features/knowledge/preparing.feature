@s2.9 @s4.6
Feature: The embedding model of a new installation
  The model is prepared once on each machine, in the background. Nobody wonders meanwhile what a file waits for.

  Background:
    Given ann has the base "Handbook"

  Rule: A file tells that it waits for the model

    Scenario: A file that comes while the model is being prepared
      Given the embedding model is still being prepared
      When ann uploads "pumps.txt" saying "The cooling pump is serviced in March." without waiting
      Then at last the file is "processing" in the step "preparing_model"
      When the embedding model has been prepared
      Then at last the file is "ready" in no step
      And by words and meaning "cooling pump" finds "pumps.txt"

    Scenario: A file that cannot be read does not wait for the model
      Given the embedding model is still being prepared
      When ann uploads a page without text, without waiting
      Then at last the file is "failed" in no step

    Scenario: One of two files cannot be read
      Given the embedding model is still being prepared
      When ann uploads "good.txt" saying "A good file." with a page without text, without waiting
      Then at last both files are "failed"

    Scenario: A base without files
      Given the embedding model is still being prepared
      When ann searches for "greenhouse"
      Then nothing is found

  Rule: Searches go by words until the model is prepared

    Background:
      Given ann has uploaded "pumps.txt" saying "The cooling pump of hall seven is serviced every March."
      And the embedding model is still being prepared

    Scenario: Words of a chunk
      Then by words alone "cooling pump" finds "pumps.txt"
      When the embedding model has been prepared
      Then by words and meaning "cooling pump" finds "pumps.txt"

    Scenario: Where no words are found the search waits for the model
      When ann begins to search for "greenhouse"
      Then the search for "greenhouse" waits for the model
      When the embedding model has been prepared
      Then the search has compared meanings
