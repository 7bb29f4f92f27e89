@s3.2 @s4.2 @s8
Feature: A linked device
  A messaging account is kept connected as one of its linked devices.

  Rule: A new instance is pairing, and its code is made and sent by itself

    Scenario: The first code
      Given Ann's linked device
      Then its waStatus is pairing
      And the owner is told the code AAAA-1111
      And its health shows the code AAAA-1111

  Rule: Entering the code connects

    Scenario: The code is entered
      Given Ann's linked device
      When the code is entered in the app
      Then its waStatus is connected
      And it is among Ann's live connections
      And its health shows no code

  Rule: A dropped connection is made again and stays connected

    Scenario: The connection drops
      Given Ann's connected linked device
      When the connection drops and comes back
      Then its waStatus is connected
      And it was connected 2 times

  Rule: A logout clears the stored state and asks for a new code

    Scenario: The account logs the device out
      Given Ann's connected linked device
      When the account logs it out
      Then its waStatus is logged_out
      And its stored state was cleared
      And the owner is told the code AAAA-1111

    Scenario: The new code is entered
      Given Ann's connected linked device
      And the account logged it out
      When the code is entered in the app
      Then its waStatus is connected

  Rule: A pairing request forces a new code, or says within the wait that there is none

    Scenario: A new code
      Given Ann's linked device
      And the owner was told the code AAAA-1111
      When Ann asks for a pairing code
      Then she gets the code BBBB-2222

    Scenario: The account does not answer in time
      Given Ann's linked device
      And the owner was told the code AAAA-1111
      And the account gives no more codes
      When Ann asks for a pairing code
      Then she gets no code

    Scenario: The extra is not installed
      Given a server without the extra, and Ann's linked device
      When Ann asks for a pairing code
      Then she gets no code
