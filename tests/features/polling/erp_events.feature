@s4.3 @s6
Feature: Odoo
  What happens to records in Odoo goes to the resource, and its answer becomes a note.

  Rule: Records that are created, changed or deleted after watching has begun are reported

    Scenario: A new record
      Given a watch on partners with the events create,write,unlink
      When "Workshop GmbH" is made in Odoo
      And the next look comes
      Then the resource is told of a create event with "Workshop GmbH"
      And the record gets the note "Noted"

    Scenario: A changed record
      Given the partner "Old" in Odoo
      And a watch on partners with the events create,write,unlink
      When it is renamed to "New" in Odoo
      And the next look comes
      Then the resource is told of a write event with "New"

    Scenario: A deleted record
      Given the partner "Old" in Odoo
      And a watch on partners with the events create,write,unlink
      When it is deleted in Odoo
      And the next look comes
      Then the resource is told of an unlink event with the id alone

    Scenario: What was there before
      Given the partner "Old" in Odoo
      And a watch on partners with the events create,write,unlink
      When the next look comes
      Then the resource is asked nothing

  Rule: Only the events that are asked for are reported

    Scenario: Only deletions
      Given the partner "Old" in Odoo
      And a watch on partners with the events unlink
      When it is renamed to "New" in Odoo
      And the next look comes
      Then the resource is asked nothing

  Rule: Each change is reported once

    Scenario: Two looks
      Given a watch on partners with the events create,write,unlink
      When "Workshop GmbH" is made in Odoo
      And the next look comes
      And the next look comes
      Then the resource is asked once

  Rule: Our own notes are no events

    Scenario: A note on the record
      Given a watch on partners with the events create,write,unlink
      When "Workshop GmbH" is made in Odoo
      And the next look comes
      And the note has been written
      And the next look comes
      Then the resource is asked once

    Scenario: A note in the second in which the record was made
      Given a watch on partners with the events create,write,unlink
      When "Workshop GmbH" is made in Odoo
      And the next look comes
      And the note has been written in the same second
      And the next look comes
      And the next look comes
      Then the resource is asked once

  Rule: Many answers at once leave Odoo room for its other clients

    Scenario: A bulk import
      Given a watch on partners with the events create,write,unlink
      And another client leaves 3 connections of Odoo's pool
      When 50 partners are imported into Odoo
      And the next look comes
      Then all 50 partners get a note
      And Odoo has never seen more than 2 calls of ours at a time, and refused none

    Scenario: A full pool
      Given a watch on partners with the events create,write,unlink
      And Odoo's pool is full for the next 2 notes
      When "Workshop GmbH" is made in Odoo
      And the next look comes
      Then the record gets the note "Noted"

  Rule: A loop that nothing else recognises is stopped

    Scenario: A rule in Odoo that changes each record that gets a note
      Given a watch on partners with the events create,write,unlink
      And a rule in Odoo that changes each record that gets a note
      When "Workshop GmbH" is made in Odoo
      And looks come until a change is not answered
      Then its health says "stopped a loop"
      And the record has 13 notes

  Rule: Credentials that are refused end the polling, and the health says so

    Scenario: The API key is revoked
      Given a watch on partners with the events create,write,unlink
      When the API key is revoked
      And the next look comes
      Then its health says "does not take database, username and password"

  Rule: A look that works hides no failure of what comes after it

    Scenario: The Odoo user has no e-mail address, and Odoo refuses each note
      Given the user of the service has no e-mail address in Odoo
      And a watch on partners with the events create,write,unlink
      Then the answer to its creation says "has no e-mail address"
      When "Workshop GmbH" is made in Odoo
      And the next look comes
      Then its health says "configure the sender's email address"
      When the next look comes
      Then its health shows that only sending fails
      When the user gets an e-mail address
      And "Second GmbH" is made in Odoo
      And the next look comes
      Then its health shows that nothing fails

    Scenario: The resource fails for each record
      Given a watch on partners with the events create,write,unlink
      And a resource that refuses everything
      When "Workshop GmbH" is made in Odoo
      And the next look comes
      Then its health says "the downstream resource failed"
      When the next look comes
      Then its health shows that only processing fails
      When the resource takes everything again
      And "Second GmbH" is made in Odoo
      And the next look comes
      Then its health shows that nothing fails

    Scenario: What was mended in Odoo is found at the next try of the configuration
      Given the user of the service has no e-mail address in Odoo
      And a watch on partners with the events create,write,unlink
      When the user gets an e-mail address
      And configurations that did not work are tried again
      Then its health shows that nothing fails
