@s4.3 @s4.4 @s6
Feature: The HTTP webhook
  Any program can talk to a resource by calling its address.

  Rule: The message is found at the configured path, else at the first usual place, else it is the whole body

    Scenario Outline: A call where <call>
      Given a webhook that answers later
      When it is called where <call>
      Then the resource is asked "<message>"

      Examples:
        | call                                                       | message                 |
        | "message" says "a", "text" says "b"                        | a                       |
        | "text" says "b", "content" says "c"                        | b                       |
        | "content" says "c", "body" says "d"                        | c                       |
        | "body" says "d", "message" in "data" says "e"              | d                       |
        | "message" in "data" says "e", "text" in "payload" says "f" | e                       |
        | "text" in "payload" says "f"                               | f                       |
        | "message" says nothing, "text" says "b"                    | b                       |
        | "message" is the number 12345678901234567890123            | 12345678901234567890123 |

    Scenario Outline: A call with no message, where <call>
      Given a webhook that answers later
      When it is called where <call>
      Then the resource is asked the whole body

      Examples:
        | call                       |
        | "other" is the number 1    |
        | the body lists "x" and "y" |

    Scenario Outline: A message looked for at <path>, where <call>
      Given a webhook that answers later and looks for the message at "<path>"
      When it is called where <call>
      Then the resource is asked "<message>"

      Examples:
        | path             | call                                                  | message |
        | data.items.1.say | "items" in "data" are two, whose "say" is "0" and "1" | 1       |
        | data.nothing     | "message" says "a", "data" is empty                   | a       |
        | n                | "n" is the number 42                                  | 42      |

  Rule: The session id is found at the configured path, else at the first usual place

    Scenario Outline: A session where <call>
      Given a webhook that answers later
      When it is called where "message" says "m", <call>
      Then the answer belongs to the session "<session>"

      Examples:
        | call                                        | session              |
        | "sessionId" says "a", "session_id" says "b" | a                    |
        | "session_id" says "b", "userId" says "c"    | b                    |
        | "userId" says "c", "user_id" says "d"       | c                    |
        | "user_id" says "d", "id" says "e"           | d                    |
        | "id" is the number 7                        | 7                    |
        | "id" is the number 18446744073709551617     | 18446744073709551617 |

    Scenario: A session looked for at a configured path
      Given a webhook that answers later and looks for the session at "who.0"
      When it is called where "message" says "m", "who" lists "z", "id" says "e"
      Then the answer belongs to the session "z"

    Scenario: A message without a session is a conversation of its own
      Given a webhook that answers later
      When it is called where "message" says "m"
      Then the answer belongs to a session named after the request

  Rule: Without syncResponse the call is accepted at once and the answer goes to the response address

    Scenario: Accepted, then answered
      Given a webhook that answers later
      When it is called where "message" says "hello", "sessionId" says "s"
      Then the call is accepted with a request id
      And the response address gets the answer "hello" of that request

    Scenario Outline: The payload's own address <key> comes first
      Given a webhook that answers later
      When it is called with a message that names another address as <key>
      Then the other address gets the answer

      Examples:
        | key          |
        | responseUrl  |
        | response_url |

    Scenario: Configured headers are added
      Given a webhook that answers later and adds the header "X-Team" with "support"
      When it is called where "message" says "hello"
      Then the answer carries the header "x-team" with "support"

    Scenario Outline: A response address that <address> is refused
      Given a webhook that answers later
      When it is called where "message" says "m", "responseUrl" <address>
      Then the call is "invalid"

      Examples:
        | address                      |
        | says "file:///etc/passwd"    |
        | says "http://a b/"           |
        | says "http://app.example:0/" |
        | lists "http://app.example/"  |

  Rule: With syncResponse the call waits for the answer

    @grpc
    Scenario: The instance is deleted while the call waits
      Given a webhook that answers in the call, whose resource does not answer yet
      When it is called and ann deletes it meanwhile
      Then the call is "not found"

    Scenario: What worked is in the health, also where no reply has to be sent
      Given a webhook that answers in the call, whose resource fails once
      When it is called where "message" says "hello"
      And it is called where "message" says "hello"
      Then its health says that it works

    Scenario: The answer in the call
      Given a webhook that answers in the call
      When it is called where "message" says "hello", "sessionId" says "s"
      Then the call itself gets the answer "hello"

    Scenario: A resource that fails
      Given a webhook that answers in the call, whose resource fails
      When it is called where "message" says "hello"
      Then the call is "failed"
      And the caller is told of an error, with a request id and an explanation

  Rule: A program picks by its value what was offered, once

    Scenario Outline: A value that <what>
      Given a webhook that answers in the call, whose resource offers "Small" for "size-s"
      When it is called where "message" says "a shirt", "sessionId" says "s"
      And the choice "<value>" is made in the session "<session>", <times>
      Then the resource gets "<value>" <how>

      Examples:
        | what                               | value  | session | times | how               |
        | was offered                        | size-s | s       | once  | as a choice once  |
        | was offered, and is picked twice   | size-s | s       | twice | as a choice once  |
        | was never offered                  | size-x | s       | once  | as a message once |
        | was offered in another session     | size-s | other   | once  | as a message once |

  Rule: With a secret, calls need a signature and answers carry one

    Scenario Outline: A good signature in <header>
      Given a webhook that answers later, with the secret "s3cret"
      When it is called with a <form> signature in <header>
      Then the call is "done"
      And the response address gets one answer

      Examples:
        | header              | form     |
        | X-Webhook-Signature | plain    |
        | X-Webhook-Signature | prefixed |
        | X-Hub-Signature-256 | prefixed |
        | X-Hub-Signature-256 | plain    |
        | X-Signature         | plain    |
        | X-Signature         | prefixed |
        | x-signature         | shouted  |

    Scenario Outline: A call with <what> is refused and stores nothing
      Given a webhook that answers later, with the secret "s3cret"
      When it is called with <what>
      Then the call is "not known"
      And nothing is stored

      Examples:
        | what                        |
        | no signature                |
        | a signature of another body |
        | a signature by another key  |
        | a signature of garbage      |

    Scenario: The answer is signed
      Given a webhook that answers later, with the secret "s3cret"
      When it is called with a plain signature in X-Signature
      Then the answer's X-Webhook-Signature proves its origin

    Scenario: No configured header takes the place of the signature
      Given a webhook that answers later, with the secret "s3cret", and adds the header "x-webhook-SIGNATURE" with "forged"
      When it is called with a plain signature in X-Signature
      Then the answer's X-Webhook-Signature proves its origin

    Scenario: Standard Webhooks both ways
      Given a webhook that answers later, with a secret of Standard Webhooks
      When it is called as the Standard Webhooks library signs
      Then the call is "done"
      And the Standard Webhooks library takes the answer

    Scenario: An old Standard Webhooks signature
      Given a webhook that answers later, with a secret of Standard Webhooks
      When it is called as the Standard Webhooks library signed six minutes ago
      Then the call is "not known"

  Rule: A repeated call with the same idempotency key is one event

    Scenario: The same key twice
      Given a webhook that answers later
      When it is called twice with the same idempotency key
      Then both calls are accepted with the same request id
      And the response address gets one answer

    Scenario: The same key twice, of which one call has a query
      Given a webhook that answers later
      When it is called twice with the same idempotency key, once with a query
      Then both calls are accepted with the same request id
      And the response address gets one answer

    Scenario: Two long keys that differ at their end
      Given a webhook that answers later
      When it is called with two idempotency keys of 1001 characters
      Then the response address gets two answers

    Scenario: The same key twice, waiting for the answer
      Given a webhook that answers in the call
      When it is called twice with the same idempotency key
      Then both calls get the same answer

  Rule: What cannot be read is refused and stores nothing

    Scenario Outline: A body that is <body>
      Given a webhook that answers later
      When it is called with a body that is <body>
      Then the call is "invalid"
      And nothing is stored

      Examples:
        | body                             |
        | cut off                          |
        | plain words                      |
        | empty                            |
        | a message that is "not a number" |

    Scenario: An unknown callback
      Given a webhook that answers later
      When its callback "other" is called
      Then the call is "not found"

    Scenario: A callback of another channel
      Given a webhook that answers later
      When it is called as if it were "cron"
      Then the call is "not found"
