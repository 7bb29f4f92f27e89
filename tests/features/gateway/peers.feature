Feature: Gateways and other callers over gRPC
  A gateway that runs apart tells the core for whom it calls. Nobody else is believed.

  Rule: The address of a person counts from a gateway alone

    Scenario Outline: Wrong keys for many addresses, tried by <caller>
      When <caller> tries a wrong key for each of 30 addresses
      Then the caller is <outcome>

      Examples:
        | caller                                | outcome                        |
        | somebody without any proof            | told to wait                   |
        | somebody with an API key              | told to wait                   |
        | a gateway with the service key        | told each time that it is wrong |
        | a gateway with a client certificate   | told each time that it is wrong |

    Scenario: Nobody uses up the tries of another address
      When somebody without any proof tries 30 wrong keys for ann's address
      Then a wrong key from ann's address is only told to be wrong

  Rule: Visitors have the same limits as over REST

    Scenario Outline: A flood of <calls> past the gateway
      When somebody without any proof makes <count> <calls>
      Then those beyond the limit are refused, and told when to try again
      And a visitor of a gateway can still do that

      Examples:
        | calls            | count |
        | chats            | 400   |
        | messages         | 40    |
        | streams          | 20    |
        | looks at origins | 200   |

    Scenario: A visitor who floods through a gateway
      When a gateway with the service key passes on 400 chats of one visitor
      Then those beyond the limit are refused, and told when to try again
      And a visitor of a gateway can still do that
