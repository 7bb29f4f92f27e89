@s5
Feature: Proof of origin
  Each channel checks that a call comes from its platform, before anything of it is stored.

  Rule: A call that its platform has proved is accepted

    Scenario Outline: <channel>: <check>
      Given an instance of <channel>
      When its platform calls
      Then the call is accepted
      And its message is stored

      Examples:
        | channel            | check                                    |
        | workspace-chat     | a signature with the signing secret      |
        | enterprise-chat    | a token of the Bot Framework for the app |
        | community-chat     | the token in the message                 |
        | gaming-chat        | a signature that fits the public key     |
        | bot-messenger      | a secret made from the bot's token       |
        | business-messaging | a signature with the app's secret        |
        | sms-provider       | the account and Twilio's signature       |
        | http-webhook       | a signature with the webhook's secret    |

    Scenario Outline: <channel>, proved by <proof>
      Given an instance of <channel>
      When its platform calls with <proof>
      Then the call is accepted

      Examples:
        | channel            | proof               |
        | community-chat     | the API token       |
        | business-messaging | the verify token    |
        | http-webhook       | X-Hub-Signature-256 |
        | http-webhook       | X-Signature         |

  Rule: A call whose proof is missing, wrong, stale or for another body is refused, and nothing of it is stored

    Scenario Outline: <channel> with <fault>
      Given an instance of <channel>
      When a call comes with <fault>
      Then it is refused as <outcome>
      And nothing is stored

      Examples:
        | channel            | fault                            | outcome   |
        | workspace-chat     | no signature                     | not known |
        | workspace-chat     | a signature of another secret    | not known |
        | workspace-chat     | a signature of another body      | not known |
        | workspace-chat     | a signature of six minutes ago   | not known |
        | workspace-chat     | a signature of six minutes ahead | not known |
        | workspace-chat     | no time stamp                    | not known |
        | enterprise-chat    | no token                         | not known |
        | enterprise-chat    | a token of another key           | not known |
        | enterprise-chat    | a token for another app          | not known |
        | enterprise-chat    | a token of another issuer        | not known |
        | enterprise-chat    | a token that has ended           | not known |
        | enterprise-chat    | a token for another service      | forbidden |
        | community-chat     | no token                         | not known |
        | community-chat     | an empty token                   | not known |
        | community-chat     | another token                    | not known |
        | community-chat     | the beginning of the token       | not known |
        | gaming-chat        | no signature                     | not known |
        | gaming-chat        | a signature of another key       | not known |
        | gaming-chat        | a signature of another body      | not known |
        | gaming-chat        | a signature of six minutes ago   | not known |
        | gaming-chat        | no time stamp                    | not known |
        | bot-messenger      | no secret                        | not known |
        | bot-messenger      | the token itself                 | not known |
        | bot-messenger      | the secret of another bot        | not known |
        | business-messaging | no signature                     | not known |
        | business-messaging | a signature of another secret    | not known |
        | business-messaging | a signature of another body      | not known |
        | business-messaging | another verify token             | forbidden |
        | business-messaging | no verify token                  | forbidden |
        | sms-provider       | another account                  | not known |
        | sms-provider       | no account and no signature      | not known |
        | sms-provider       | a signature of another token     | not known |
        | sms-provider       | a signature of another text      | not known |
        | http-webhook       | no signature                     | not known |
        | http-webhook       | a signature of another secret    | not known |
        | http-webhook       | a signature of another body      | not known |
        | http-webhook       | a wrong X-Hub-Signature-256      | not known |
        | http-webhook       | a wrong X-Signature              | not known |

    Scenario: All faults are in the table
      Then no fault that the calls can have is left out

  Rule: Where nothing can be checked, the server's switch decides

    Scenario Outline: <channel> without <field>, proof not required
      Given an instance of <channel> that lacks <field>
      When a call comes that nothing proves
      Then the call is accepted
      And the instance's health names <field>

      Examples:
        | channel            | field              |
        | enterprise-chat    | appId              |
        | gaming-chat        | publicKey          |
        | business-messaging | appSecret          |
        | sms-provider       | X-Twilio-Signature |

    Scenario Outline: <channel> without <field>, proof required
      Given a server that requires proof
      And an instance of <channel> that lacks <field>
      When a call comes that nothing proves
      Then it is refused as not known
      And the refusal names <field>
      And nothing is stored

      Examples:
        | channel            | field              |
        | enterprise-chat    | appId              |
        | gaming-chat        | publicKey          |
        | business-messaging | appSecret          |
        | sms-provider       | X-Twilio-Signature |
