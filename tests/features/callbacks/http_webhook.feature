@s4.3 @s4.4 @s6
Feature: The HTTP webhook
  Any program can talk to a resource by POSTing JSON.

  Rule: The message is found at the configured path, else at the first usual place, else it is the whole body

    Scenario Outline: A message in <body>
      Given an asynchronous http-webhook with the settings <settings>
      When it is called with <body>
      Then the resource is asked "<message>"

      Examples:
        | settings                                | body                                                     | message                    |
        | {}                                      | {"message": "a", "text": "b"}                            | a                          |
        | {}                                      | {"text": "b", "content": "c"}                            | b                          |
        | {}                                      | {"content": "c", "body": "d"}                            | c                          |
        | {}                                      | {"body": "d", "data": {"message": "e"}}                  | d                          |
        | {}                                      | {"data": {"message": "e"}, "payload": {"text": "f"}}     | e                          |
        | {}                                      | {"payload": {"text": "f"}}                               | f                          |
        | {}                                      | {"other": 1}                                             | {"other": 1}               |
        | {}                                      | ["x", "y"]                                               | ["x", "y"]                 |
        | {}                                      | {"message": null, "text": "b"}                           | b                          |
        | {"messageField": "data.items.1.say"}    | {"data": {"items": [{"say": "0"}, {"say": "1"}]}}        | 1                          |
        | {"messageField": "data.nothing"}        | {"message": "a", "data": {}}                             | a                          |
        | {"messageField": "n"}                   | {"n": 42}                                                | 42                         |
        | {}                                      | {"message": 12345678901234567890123}                     | 12345678901234567890123    |

  Rule: The session id is found at the configured path, else at the first usual place

    Scenario Outline: A session in <body>
      Given an asynchronous http-webhook with the settings <settings>
      When it is called with <body>
      Then the answer belongs to the session "<session>"

      Examples:
        | settings                      | body                                                     | session |
        | {}                            | {"message": "m", "sessionId": "a", "session_id": "b"}    | a       |
        | {}                            | {"message": "m", "session_id": "b", "userId": "c"}       | b       |
        | {}                            | {"message": "m", "userId": "c", "user_id": "d"}          | c       |
        | {}                            | {"message": "m", "user_id": "d", "id": "e"}              | d       |
        | {}                            | {"message": "m", "id": 7}                                | 7       |
        | {}                            | {"message": "m", "id": 18446744073709551617}             | 18446744073709551617 |
        | {"sessionIdField": "who.0"}   | {"message": "m", "who": ["z"], "id": "e"}                | z       |

    Scenario: A message without a session is a conversation of its own
      Given an asynchronous http-webhook with the settings {}
      When it is called with {"message": "m"}
      Then the answer belongs to a session named after the request

  Rule: Without syncResponse the call is accepted at once and the answer goes to the response address

    Scenario: Accepted, then answered
      Given an asynchronous http-webhook with the settings {}
      When it is called with {"message": "hello", "sessionId": "s"}
      Then the call is accepted with a request id
      And the response address gets the answer "hello" of that request

    Scenario Outline: The payload's own address <key> comes first
      Given an asynchronous http-webhook with the settings {}
      When it is called with a message that names another address as <key>
      Then the other address gets the answer

      Examples:
        | key          |
        | responseUrl  |
        | response_url |

    Scenario: Configured headers are added
      Given an asynchronous http-webhook with the settings {"responseHeaders": "{\"X-Team\": \"support\"}"}
      When it is called with {"message": "hello"}
      Then the answer carries the header "x-team" with "support"

    Scenario Outline: The response address <address> is refused
      Given an asynchronous http-webhook with the settings {}
      When it is called with {"message": "m", "responseUrl": <address>}
      Then the call is "invalid"

      Examples:
        | address                  |
        | "file:///etc/passwd"     |
        | "http://a b/"            |
        | "http://app.example:0/"  |
        | ["http://app.example/"]  |

  Rule: With syncResponse the call waits for the answer

    Scenario: The instance is deleted while the call waits
      Given a synchronous http-webhook whose resource does not answer yet
      When it is called and ann deletes it meanwhile
      Then the call is "not found"

    Scenario: What worked is in the health, also where no reply has to be sent
      Given a synchronous http-webhook whose resource fails once
      When it is called with {"message": "hello"}
      And it is called with {"message": "hello"}
      Then its health says that it works

    Scenario: The answer in the call
      Given a synchronous http-webhook
      When it is called with {"message": "hello", "sessionId": "s"}
      Then the call itself gets the answer "hello"

    Scenario: A resource that fails
      Given a synchronous http-webhook whose resource fails
      When it is called with {"message": "hello"}
      Then the call is "failed"
      And it says status "error" with a request id and a message

  Rule: With a secret, calls need a signature and answers carry one

    Scenario Outline: A good signature in <header>
      Given an asynchronous http-webhook with the settings {"webhookSecret": "s3cret"}
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
      Given an asynchronous http-webhook with the settings {"webhookSecret": "s3cret"}
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
      Given an asynchronous http-webhook with the settings {"webhookSecret": "s3cret"}
      When it is called with a plain signature in X-Signature
      Then the answer's X-Webhook-Signature proves its origin

    Scenario: No configured header takes the place of the signature
      Given an asynchronous http-webhook with the settings {"webhookSecret": "s3cret", "responseHeaders": "{\"x-webhook-SIGNATURE\": \"forged\"}"}
      When it is called with a plain signature in X-Signature
      Then the answer's X-Webhook-Signature proves its origin

    Scenario: Standard Webhooks both ways
      Given an asynchronous http-webhook with the settings {"webhookSecret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
      When it is called as the Standard Webhooks library signs
      Then the call is "done"
      And the Standard Webhooks library takes the answer

    Scenario: An old Standard Webhooks signature
      Given an asynchronous http-webhook with the settings {"webhookSecret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}
      When it is called as the Standard Webhooks library signed six minutes ago
      Then the call is "not known"

  Rule: A repeated call with the same idempotency key is one event

    Scenario: The same key twice
      Given an asynchronous http-webhook with the settings {}
      When it is called twice with the same idempotency key
      Then both calls are accepted with the same request id
      And the response address gets one answer

    Scenario: The same key twice, of which one call has a query
      Given an asynchronous http-webhook with the settings {}
      When it is called twice with the same idempotency key, once with a query
      Then both calls are accepted with the same request id
      And the response address gets one answer

    Scenario: Two long keys that differ at their end
      Given an asynchronous http-webhook with the settings {}
      When it is called with two idempotency keys of 1001 characters
      Then the response address gets two answers

    Scenario: The same key twice, waiting for the answer
      Given a synchronous http-webhook
      When it is called twice with the same idempotency key
      Then both calls get the same answer

  Rule: What is not JSON is refused and stores nothing

    Scenario Outline: A body of <body>
      Given an asynchronous http-webhook with the settings {}
      When it is called with the bytes <body>
      Then the call is "invalid"
      And nothing is stored

      Examples:
        | body             |
        | {"message":      |
        | plain words      |
        | (nothing)        |
        | {"message": NaN} |

    Scenario: An unknown callback
      Given an asynchronous http-webhook with the settings {}
      When its callback "other" is called
      Then the call is "not found"

    Scenario: A callback of another channel
      Given an asynchronous http-webhook with the settings {}
      When it is called as if it were "cron"
      Then the call is "not found"
