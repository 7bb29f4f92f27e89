@s2.1 @s2.2 @s2.4 @s4.1
Feature: The catalogue of channels
  Whoever sets up a channel sees which ones there are, what each needs, and how to set up its platform.

  Rule: The catalogue holds the channels under their neutral ids

    @grpc
    Scenario: All channels are listed
      When a user looks at the catalogue
      Then it shows these channels in order
        | id                       | name                          |
        | workspace-chat           | Slack                         |
        | enterprise-chat          | Microsoft Teams               |
        | community-chat           | Mattermost                    |
        | gaming-chat              | Discord                       |
        | bot-messenger            | Telegram                      |
        | business-messaging       | WhatsApp Business (Cloud API) |
        | linked-device-messaging  | WhatsApp (linked device)      |
        | sms-provider             | Twilio SMS                    |
        | email                    | Email (IMAP/SMTP)             |
        | mail-api                 | Gmail                         |
        | http-webhook             | HTTP webhook                  |
        | cron                     | Cron                          |
        | drive-folder             | Google Drive folder           |
        | erp-events               | Odoo                          |
        | web-chat                 | Web chat                      |
        | chat-completions-api     | Chat completions API          |
        | agent-protocol           | Agent protocol (A2A)          |

    Scenario: A channel that nobody knows
      When a user looks at the channel "pigeon-post"
      Then the answer is "not found"

  Rule: A definition says what to configure and how to set up the platform

    Scenario Outline: Fields of <channel>
      When a user looks at the channel "<channel>"
      Then its required fields are "<required>"
      And its optional fields are "<optional>"
      And each field has a description
      And its set-up has a title, steps and a page of the platform's documentation

      Examples:
        | channel                 | required                                                                                              | optional                                                                                                            |
        | workspace-chat          | botToken:string signingSecret:string | defaultChannel:string appToken:string appId:string ackReaction:string reactions:boolean identifyUsers:boolean accessMode:string mergeSeconds:number transcribe:boolean requireMention:boolean allowedChannels:string followThreads:boolean replyInThread:boolean |
        | enterprise-chat         |  | webhookUrl:string appId:string appPassword:string tenantId:string identifyUsers:boolean accessMode:string mergeSeconds:number transcribe:boolean requireMention:boolean allowedChannels:string |
        | community-chat          | SERVER_URL:string channelId:string token:string | webhookToken:string connection:string ackReaction:string identifyUsers:boolean accessMode:string mergeSeconds:number transcribe:boolean requireMention:boolean allowedChannels:string followThreads:boolean replyInThread:boolean |
        | gaming-chat             | botToken:string applicationId:string | publicKey:string defaultChannelId:string ackReaction:string reactions:boolean identifyUsers:boolean accessMode:string mergeSeconds:number transcribe:boolean requireMention:boolean allowedChannels:string followThreads:boolean replyInThread:boolean |
        | bot-messenger           | botToken:string | parseMode:string connection:string disableWebPagePreview:boolean ackReaction:string identifyUsers:boolean accessMode:string mergeSeconds:number transcribe:boolean requireMention:boolean allowedChannels:string |
        | business-messaging      | phoneNumberId:string accessToken:string webhookVerifyToken:string | appSecret:string apiVersion:string ackReaction:string reactions:boolean identifyUsers:boolean accessMode:string mergeSeconds:number transcribe:boolean |
        | linked-device-messaging | phoneNumber:string | allowedNumbers:string identifyUsers:boolean accessMode:string mergeSeconds:number transcribe:boolean |
        | sms-provider            | accountSid:string authToken:string providerPhoneNumber:string | messagingServiceSid:string acknowledge:boolean identifyUsers:boolean accessMode:string mergeSeconds:number transcribe:boolean |
        | email                   | smtpHost:string smtpPort:number imapHost:string imapPort:number username:string password:string fromEmail:string | smtpSecure:boolean imapSecure:boolean checkInterval:number since:string sharedThreads:boolean answerLists:boolean answerAutomatic:boolean answerNoReply:boolean identifyUsers:boolean accessMode:string |
        | mail-api                | clientId:string clientSecret:string refreshToken:string | redirectUri:string checkInterval:number sharedThreads:boolean answerLists:boolean answerAutomatic:boolean answerNoReply:boolean identifyUsers:boolean accessMode:string |
        | http-webhook            |  | responseWebhookUrl:string webhookSecret:string messageField:string sessionIdField:string responseHeaders:string syncResponse:boolean identifyUsers:boolean accessMode:string |
        | cron                    | cronSchedule:string message:string | timezone:string enabled:boolean oneShot:boolean triggerSecret:string deliverInstanceId:number deliverTo:string |
        | drive-folder            | clientId:string clientSecret:string refreshToken:string folderId:string | checkInterval:number fileTypes:string webhookUrl:string knowledgeBaseId:number |
        | erp-events              | erpUrl:string database:string username:string password:string models:string events:string | checkInterval:number webhookUrl:string |
        | web-chat                |  | allowedOrigins:string title:string greeting:string colour:string identitySecret:string identifyUsers:boolean accessMode:string mergeSeconds:number transcribe:boolean |
        | chat-completions-api    | apiKey:string | modelName:string identifyUsers:boolean accessMode:string |
        | agent-protocol          | apiKey:string | agentName:string agentDescription:string skills:string identifyUsers:boolean accessMode:string |
