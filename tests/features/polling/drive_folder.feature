@s4.3 @s6
Feature: Google Drive folder
  What happens to files in a folder goes to the resource, and its answer becomes a document beside them.

  Rule: Files that are new or changed after watching has begun are reported

    Scenario: A new file
      Given a watch on a folder
      When "plan.pdf" is put into the folder
      And the next look comes
      Then the resource is asked 'File updated: plan.pdf at https://drive.google.com/file/d/file1/view?usp=drivesdk'
      And the answer stands in "plan.pdf - answer.txt"

    Scenario: A changed file
      Given "plan.pdf" in the folder
      And a watch on a folder
      When "plan.pdf" is changed
      And the next look comes
      Then the resource is asked once

    Scenario: What was there before
      Given "plan.pdf" in the folder
      And a watch on a folder
      When the next look comes
      Then the resource is asked nothing

  Rule: With fileTypes only those extensions are reported

    Scenario Outline: <name>
      Given a watch on a folder for pdf,docx
      When "<name>" is put into the folder
      And the next look comes
      Then the resource is asked <what>

      Examples:
        | name      | what    |
        | plan.PDF  | once    |
        | plan.xlsx | nothing |
        | pdf       | nothing |

  Rule: Our own answers are not reported

    Scenario: The answer in the folder
      Given a watch on a folder
      When "plan.pdf" is put into the folder
      And the next look comes
      And the answer has been written
      And the next look comes
      Then the resource is asked once

    Scenario: The answer in the folder of a server that keeps no properties of files
      Given a server that keeps no properties
      And a watch on a folder
      When "plan.pdf" is put into the folder
      And the next look comes
      And the answer has been written
      And the next look comes
      And the next look comes
      Then the resource is asked once

  Rule: A push notification starts a look at once

    Scenario: Something changed
      Given a watch on a folder
      When "plan.pdf" is put into the folder
      And Google reports a change
      Then the resource is asked once

    Scenario: The first notification is only acknowledged
      Given a watch on a folder
      When "plan.pdf" is put into the folder
      And Google reports a sync
      Then the call is "done"
      And the resource is asked nothing

    Scenario: Somebody else's notification
      Given a watch on a folder
      When somebody else reports a change
      Then the call is "not known"

  Rule: A dead credential ends the polling, and the health says so

    Scenario: Access is revoked
      Given a watch on a folder
      When access is revoked
      And the next look comes
      Then its health says "invalid_grant"
