@s1
Feature: Files of messages
  Files travel both ways: attachments to the resource, artifacts to the sender. Either is handed on as a signed
  address of the gateway that needs no key and expires.

  Rule: An attachment is fetched from the platform and handed to the resource

    Scenario: A document
      Given a chat bot with a resource
      When the platform posts a message with a document
      Then the resource is handed a file of that name, type and size
      And its address serves the platform's bytes as a download

    Scenario: A file that the platform does not give
      Given a chat bot with a resource
      And the platform has lost the document
      When the platform posts a message with a document
      Then the resource is handed the message without a file
      And the instance's health says that an attachment was not fetched

  Rule: An artifact reaches the sender

    Scenario: Bytes become an address
      Given a webhook whose resource answers with the bytes of "täst.png"
      When it is called
      Then the answer has an artifact "täst.png" of type "image/png" at the gateway
      And its address serves those bytes as a download

    Scenario: A name that has folders in it loses them
      Given a webhook whose resource answers with the bytes of "../../etc/täst.png"
      When it is called
      Then the answer has an artifact "täst.png" of type "image/png" at the gateway
      And its address serves those bytes as a download

    Scenario: A name of 5000 characters is shortened, and a type that is none is that of bytes
      Given a webhook whose resource answers with a name of 5000 characters and a type of 10000
      When it is called
      Then the answer has an artifact of 255 characters and of type "application/octet-stream" at the gateway
      And its address serves those bytes as a download

    Scenario: There is no room for an attachment
      Given a chat bot with a resource
      And the disk of the service is full
      When the platform posts a message with a document
      Then the resource is handed the message without a file
      And the instance's health says that an attachment was not fetched

    Scenario: What stands at an address can be asked for by HEAD
      Given a webhook whose resource answers with the bytes of "täst.png"
      When it is called
      Then its address tells the type and size of those bytes by HEAD

    Scenario: An address is passed on
      Given a webhook whose resource answers with a file at "https://files.example/a.pdf"
      When it is called
      Then the artifact's address is "https://files.example/a.pdf"

  Rule: An address is good for a limited time, and only as it was signed

    Scenario: Good for a week
      Given a webhook whose resource answers with the bytes of "a.png"
      And it was called
      When 167 hours pass
      Then its address serves those bytes as a download

    Scenario: Expired
      Given a webhook whose resource answers with the bytes of "a.png"
      And it was called
      When 168 hours pass
      Then the address serves nothing

    Scenario: Tampered with
      Given a webhook whose resource answers with the bytes of "a.png"
      When it is called
      Then no change of a character of the address serves anything
