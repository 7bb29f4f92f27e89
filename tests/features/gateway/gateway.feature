@s4 @s5 @s7
Feature: The REST gateway
  Clients in any language get the same shapes for the same things, errors included.

  Rule: Protected routes take an API key

    Scenario Outline: <method> <path> without a key
      When <method> <path> is requested without a key
      Then the status is 401
      And the body is {"error": "Unauthorized"}

      Examples:
        | method | path                                         |
        | GET    | /api/agent/channels                          |
        | GET    | /api/agent/channels/status                   |
        | GET    | /api/agent/channels/cron                     |
        | POST   | /api/agent/channels                          |
        | DELETE | /api/agent/channels/instance/1               |
        | GET    | /api/agent/channel-instances                 |
        | POST   | /api/agent/channel-instances                 |
        | PUT    | /api/agent/channel-instances/1               |
        | POST   | /api/agent/channel-instances/1/request-pairing |
        | GET    | /api/agent/channel-instances/1/health        |
        | GET    | /api/agent/channel-instances/1/deliveries    |
        | GET    | /api/agent/kb                                |
        | GET    | /api/agent/kb/file/%0A                       |
        | POST   | /mcp                                         |
        | GET    | /api/agent/verification/identities           |

    Scenario Outline: A key that is <fault>
      When the instances are requested with the authorization "<authorization>"
      Then the status is 401
      And the body is {"error": "Unauthorized"}

      Examples:
        | fault         | authorization       |
        | unknown       | Bearer sb_unknown   |
        | of a scheme   | Basic c2JfdW5rbm93  |
        | empty         | Bearer              |
        | without words | sb_unknown          |

    Scenario: A revoked key
      Given ann's key is revoked
      When ann's instances are requested
      Then the status is 401

    Scenario Outline: The internal service key needs a user to <what>
      When <method> <path> is sent with the service key alone and <body>
      Then the status is 400
      And the body is an error that mentions "x-user-id"
      And nothing belongs to the service

      Examples:
        | what                      | method | path                                            | body                                                           |
        | list instances            | GET    | /api/agent/channel-instances                    | nothing                                                        |
        | create an instance        | POST   | /api/agent/channel-instances                    | {"channelId": "http-webhook", "channelName": "n", "config": {}} |
        | create one by the alias   | POST   | /api/agent/channels                             | {"channelId": "http-webhook", "channelName": "n", "config": {}} |
        | create a knowledge base   | POST   | /api/agent/kb                                   | {"name": "Handbook"}                                           |
        | upload                    | POST   | /api/agent/kb/1/uploadfile                      | {}                                                             |
        | list identities           | GET    | /api/agent/verification/identities              | nothing                                                        |
        | remove an identity        | DELETE | /api/agent/verification/identities/email/a@b.example | nothing                                                   |
        | verify an address         | POST   | /api/agent/verification/start-email             | {"email": "ann@example.com"}                                   |
        | use a code                | POST   | /api/agent/verification/verify-email            | {"otp": "123456"}                                              |
        | verify by messenger       | POST   | /api/agent/verification/start-bot-messenger     | nothing                                                        |
        | verify by sign-in         | POST   | /api/agent/verification/start-gaming-chat       | nothing                                                        |

    @grpc
    Scenario Outline: The internal service key alone may <what>
      Given ann has an http-webhook
      And ann has a knowledge base
      When <method> <path> is sent with the service key alone and <body>
      Then the status is <status>

      Examples:
        | what                       | method | path                                    | body                             | status |
        | read the catalogue         | GET    | /api/agent/channels                     | nothing                          | 200    |
        | see all connections        | GET    | /api/agent/channels/status              | nothing                          | 200    |
        | read an instance           | GET    | /api/agent/channel-instances/{instance} | nothing                          | 200    |
        | update an instance         | PUT    | /api/agent/channel-instances/{instance} | {"config": {}}                   | 200    |
        | read an instance's health  | GET    | /api/agent/channel-instances/{instance}/health | nothing                   | 200    |
        | delete an instance         | DELETE | /api/agent/channel-instances/{instance} | nothing                          | 200    |
        | list all knowledge bases   | GET    | /api/agent/kb                           | nothing                          | 200    |
        | share a knowledge base     | PUT    | /api/agent/kb/{base}/permissions        | {"userId": "bob", "permission_level": 1} | 204 |
        | search a knowledge base    | POST   | /api/agent/kb/{base}/search             | {"query": "pump"}                | 200    |
        | delete a knowledge base    | DELETE | /api/agent/kb/{base}                    | nothing                          | 204    |

    Scenario Outline: The internal service key with <user>
      When an instance is made with the service key for <user>
      Then the status is <status>

      Examples:
        | user                     | status |
        | a user                   | 201    |
        | a user of 201 characters | 400    |

    Scenario: The internal service key for a user whose name is not ASCII
      When an instance is made with the service key for "münchen"
      Then it belongs to "münchen"

  Rule: Every error is an object with one text, and never a stack trace

    Scenario Outline: <what>
      When ann sends <method> <path> with <body>
      Then the status is <status>
      And the body is an error that mentions "<word>"

      Examples:
        | what                      | method | path                                | body                                                                    | status | word        |
        | an unknown path           | GET    | /api/agent/nowhere                  | nothing                                                                 | 404    | nowhere     |
        | a path outside            | GET    | /nowhere                            | nothing                                                                 | 404    | nowhere     |
        | a method not allowed      | PATCH  | /api/agent/channel-instances        | nothing                                                                 | 405    | PATCH       |
        | broken JSON               | POST   | /api/agent/channel-instances        | {"channelId":                                                           | 400    | JSON        |
        | no body                   | POST   | /api/agent/channel-instances        | nothing                                                                 | 400    | body        |
        | an array                  | POST   | /api/agent/channel-instances        | []                                                                      | 400    | object      |
        | missing fields            | POST   | /api/agent/channel-instances        | {}                                                                      | 400    | channelId   |
        | a wrong type              | POST   | /api/agent/channel-instances        | {"channelId": 5, "channelName": "n", "config": {}}                      | 400    | channelId   |
        | an empty name             | POST   | /api/agent/channel-instances        | {"channelId": "cron", "channelName": " ", "config": {}}                 | 400    | channelName |
        | a config that is text     | POST   | /api/agent/channel-instances        | {"channelId": "cron", "channelName": "n", "config": "{}"}               | 400    | config      |
        | a NUL byte in a name      | POST   | /api/agent/channel-instances        | {"channelId": "http-webhook", "channelName": "a\u0000b", "config": {}}  | 400    | NUL         |
        | half a surrogate          | POST   | /api/agent/channel-instances        | {"channelId": "http-webhook", "channelName": "\ud800", "config": {}}    | 400    | surrogate   |
        | not a number              | POST   | /api/agent/channel-instances        | {"channelId": "http-webhook", "channelName": "n", "config": {"a": NaN}} | 400    | JSON        |
        | an id that is text        | POST   | /api/agent/channel-instances        | {"channelId": "http-webhook", "channelName": "n", "config": {}, "id": "7"} | 400 | id          |
        | an id beyond 64 bits      | POST   | /api/agent/channel-instances        | {"channelId": "http-webhook", "channelName": "n", "config": {}, "id": 99999999999999999999} | 400 | id |
        | a bad resource            | POST   | /api/agent/channel-instances        | {"channelId": "http-webhook", "channelName": "n", "config": {}, "downStreamResourceId": "planet::x"} | 400 | downStreamResourceId |
        | an unknown instance       | GET    | /api/agent/channel-instances/77     | nothing                                                                 | 404    | 77          |
        | an instance beyond 64 bits | GET   | /api/agent/channel-instances/99999999999999999999 | nothing                                                   | 404    | instance    |
        | an instance that is text  | PUT    | /api/agent/channel-instances/x      | {"config": {}}                                                          | 404    | x           |
        | an offset beyond 31 bits  | GET    | /api/agent/channel-instances/1/deliveries?offset=2147483648 | nothing                                         | 400    | offset      |
        | a bad filter              | GET    | /api/agent/channel-instances/1/deliveries?limit=0 | nothing                                                   | 400    | limit       |

    Scenario: A body that is too large
      When ann creates an instance with a body of 3 MB
      Then the status is 413
      And ann has no instances

    Scenario Outline: A body that is nested <levels> levels deep
      When ann creates an instance with a body nested <levels> levels deep
      Then the status is 400
      And the body is an error that mentions "nested more than 64 levels"

      Examples:
        | levels |
        | 65     |
        | 500    |
        | 100000 |

    Scenario Outline: A number of <digits> digits, in <place>
      When ann creates an instance with a number of <digits> digits in <place>
      Then the status is 400
      And the body is an error that mentions "a whole number of more than 4300 digits"

      Examples:
        | digits | place  |
        | 4301   | config |
        | 5000   | id     |
        | 100000 | other  |

    Scenario: A name that is too long
      When ann creates an instance with a name of 100 kB
      Then the status is 400
      And ann has no instances

    Scenario: A method that is not allowed names those that are
      When ann sends PATCH /api/agent/channels with nothing
      Then the status is 405
      And the header "allow" is "GET, POST"

    Scenario: A callback whose body breaks off is not taken
      Given ann has a community-chat instance
      When it is called with a form that breaks off
      Then nothing is stored

    Scenario: A callback that is refused can be found in the log
      Given ann has an http-webhook
      When it is called with "{"
      Then the status is 400
      And the answer has a request id, and the log tells of the refusal

    Scenario: A callback with a slash at its end
      Given ann has an http-webhook
      When it is called with a slash at the end of its address
      Then the status is 200

    Scenario: A callback body that is too large
      Given ann has an http-webhook
      When it is called with a body of 3 MB
      Then the status is 413

    Scenario: A session id of 100 kB is only long
      Given ann has an http-webhook
      When it is called with a session id of 100 kB
      Then the status is 200

  Rule: A slash at the end of a path means nothing

    Scenario Outline: <method> <path> with <body>
      Given ann has an http-webhook
      When ann sends <method> <path> with <body>
      Then the status is <status>

      Examples:
        | method | path                                      | body                                                          | status |
        | GET    | /api/agent/channels/                      | nothing                                                       | 200    |
        | GET    | /api/agent/channel-instances/             | nothing                                                       | 200    |
        | POST   | /api/agent/channel-instances/             | {"channelId": "http-webhook", "channelName": "n", "config": {}} | 201  |
        | GET    | /api/agent/kb/                            | nothing                                                       | 200    |
        | POST   | /api/agent/kb/                            | {"name": "n"}                                                 | 201    |
        | PATCH  | /api/agent/kb/                            | nothing                                                       | 405    |
        | GET    | /api/agent/verification/providers/        | nothing                                                       | 200    |
        | GET    | /api/agent/nowhere/                       | nothing                                                       | 404    |
        | GET    | /api/agent/kb//                           | nothing                                                       | 404    |

    Scenario Outline: <path>, which proxies close to the outside by its name, has one spelling
      When GET <path> is requested without a key
      Then the status is <status>

      Examples:
        | path        | status |
        | /metrics    | 200    |
        | /readyz     | 200    |
        | /metrics/   | 404    |
        | /readyz/    | 404    |
        | /metrics%2f | 404    |
        | /metrics%0a | 404    |
        | /%6detrics  | 404    |
        | /%72eadyz/  | 404    |

    Scenario: A protected path stays protected
      When GET /api/agent/channel-instances/ is requested without a key
      Then the status is 401

  Rule: What tells who a person is stays out of the log

    Scenario Outline: <method> <path>
      When <who> sends <method> <path>, and the log is read
      Then the log tells of "<told>" and a status, and holds no "<secret>"

      Examples:
        | who    | method | path                                                        | told                                    | secret      |
        | ann    | DELETE | /api/agent/verification/identities/phone/%2B15550100200     | /api/agent/verification/identities/***  | 5550100200  |
        | ann    | DELETE | /api/agent/verification/identities/email/kim@app.example/   | /api/agent/verification/identities/***  | app.example |
        | ann    | DELETE | /api/agent/verification/identities/kim@app.example          | /api/agent/verification/identities/***  | app.example |
        | nobody | DELETE | /api/agent/verification/identities/email/kim@app.example    | /api/agent/verification/identities/***  | app.example |
        | nobody | GET    | /api/agent/files/signed-token/report.pdf                    | /api/agent/files/***                    | signed      |

  Rule: The legacy paths are the same as the new ones

    Scenario: Creating and deleting by the old paths
      When ann creates an instance by the old path
      Then the status is 201
      When ann deletes it by the old path
      Then the status is 200
      And the body names the instance as text

  Rule: The status endpoint shows live connections

    @grpc
    Scenario: None is up
      When ann requests the status of connections
      Then the body has success, no connected channels and a timestamp

  Rule: Operators see health, readiness and numbers without a key

    @grpc
    Scenario Outline: <path>
      When <path> is requested without a key, as an operator
      Then the status is 200

      Examples:
        | path          |
        | /healthz      |
        | /readyz       |
        | /metrics      |
        | /docs         |
        | /openapi.json |

    Scenario: Readiness tells of all that is needed
      When /readyz is requested without a key, as an operator
      Then "database", "queue" and "migrations" were looked at

    Scenario: Health is asked for by HEAD
      When /healthz is asked for by HEAD
      Then the status is 200

    Scenario: The description of the interface is complete
      When /openapi.json is requested without a key, as an operator
      Then each documented path is in it
      And no answer with 422 stands where 400 is given
      And every error answer has the error shape

    Scenario: The description can be read without the internet
      When /docs is requested without a key, as an operator
      Then the page refers to this host alone
      And what the page refers to is there

  Rule: What is refused anyway is refused before a byte of the body is read

    Scenario Outline: Before the body of <what>
      Given ann has an http-webhook
      And ann has a knowledge base
      When <user> begins to send <method> <path>, announcing <size> bytes
      Then the status is <status>
      And no byte of the body was read

      Examples:
        | what                                       | user    | method | path                                                | size      | status |
        | the bot's callback without a key           | nobody  | POST   | /api/agent/verification/bot-messenger-callback      | 100       | 401    |
        | the bot's callback with a user's key       | ann     | POST   | /api/agent/verification/bot-messenger-callback      | 100       | 403    |
        | the bot's callback with an admin's key     | admin   | POST   | /api/agent/verification/bot-messenger-callback      | 100       | 403    |
        | somebody else's instance                   | bob     | PUT    | /api/agent/channel-instances/{instance}             | 100       | 403    |
        | an instance that is not there              | ann     | PUT    | /api/agent/channel-instances/999999                 | 100       | 404    |
        | somebody else's knowledge base             | bob     | PUT    | /api/agent/kb/{base}                                | 100       | 403    |
        | permissions of somebody else's base        | bob     | PUT    | /api/agent/kb/{base}/permissions                    | 100       | 403    |
        | a body beyond the limit                    | ann     | POST   | /api/agent/channel-instances                        | 999999999 | 413    |
        | a webhook beyond the limit                 | nobody  | POST   | /api/agent/channels/http-webhook/{instance}/webhook | 999999999 | 413    |
        | the verification bot's update beyond it    | nobody  | POST   | /api/agent/verification/bot-messenger-bot-webhook   | 999999999 | 413    |
        | a search beyond the limit                  | ann     | POST   | /api/agent/kb/{base}/search                         | 999999999 | 413    |
