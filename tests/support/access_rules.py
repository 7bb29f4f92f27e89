"""Who may do what: one row for each use case. A route, an RPC or a tool that stands in no row fails the test.

Placeholders in paths are the objects of `tests.drivers.access`. `scope`: what a key with scopes needs, one of them;
empty for every key. `needs`: what the caller needs beside a key:

- `nothing`, or `no key` for what is open to everybody;
- `user`: to act as a user, whom a service has to name;
- `member`: the same, and to be no responder; `no responder`: that alone;
- `instance 1` to `instance 3`, `base 1` to `base 3`, `agent 1` to `agent 3`: that level, which owners
  and admins have;
- `base 0`: not to be a responder, or the level 1 of the base; `file`: the same, of the base of a file;
- `in the team`, `leads the team`; `owner` of the key, the subscription or the like;
- `admin`, `service`; `browser`: a session of the console, which no caller here has.

`then`: how a call ends that is allowed, where it is refused for what it asks for: 404 for a message that is not
there.
"""

from dataclasses import dataclass

SUCCESS = 200
INSTANCE = "/api/agent/channel-instances/{instance}"
AGENT = "/api/agent/agents/{agent}"
BASE = "/api/agent/kb/{base}"
SUBSCRIPTION = "/api/agent/event-subscriptions/{subscription}"
VERIFICATION = "/api/agent/verification"


@dataclass(frozen=True)
class Rule:
    use_case: str
    scope: str
    needs: str
    calls: tuple[str, ...]
    then: int = SUCCESS

    @property
    def scopes(self) -> tuple[str, ...]:
        return tuple(self.scope.split(" or ")) if self.scope else ()


def rule(use_case: str, scope: str, needs: str, *calls: str, then: int = SUCCESS) -> Rule:
    return Rule(use_case, scope, needs, calls, then)


CHANNELS = (
    rule("list channels", "", "nothing", "GET /api/agent/channels", "CatalogueService/ListDefinitions"),
    rule("see a channel", "", "nothing", "GET /api/agent/channels/{type}", "CatalogueService/GetDefinition"),
    rule("see the form of a channel", "", "nothing", "GET /api/agent/channel-forms/{type}"),
    rule("list connections", "instances:read", "nothing",
         "GET /api/agent/channels/status", "CatalogueService/ListSockets"),
    rule("check a new configuration", "instances:write", "user",
         "POST /api/agent/channel-forms/{type}/check", "ConfigCheckService/CheckConfig new"),
    rule("check new credentials", "instances:write", "user",
         "POST /api/agent/channel-forms/{type}/check-credentials", "ConfigCheckService/CheckCredentials new"),
)  # fmt: skip

INSTANCES = (
    rule("list one's instances", "instances:read", "user",
         "GET /api/agent/channel-instances", "InstanceService/ListInstances"),
    rule("list shared instances", "instances:read", "nothing",
         "GET /api/agent/channel-instances?scope=all", "GET /api/agent/channel-instances?scope=shared",
         "InstanceService/ListVisibleInstances"),
    rule("see an instance", "instances:read", "instance 1", f"GET {INSTANCE}", "InstanceService/GetInstance"),
    rule("see one's level", "", "instance 1", "InstanceService/GetPermissionLevel"),
    rule("see the health", "instances:read", "instance 1",
         f"GET {INSTANCE}/health", "InstanceService/GetHealth"),
    rule("list the health of all", "instances:read", "nothing",
         "GET /api/agent/instance-health", "MonitoringService/ListInstanceHealth", "tool list_channels"),
    rule("list schedules", "instances:read", "nothing",
         "GET /api/agent/schedules", "ScheduleService/ListSchedules"),
    rule("make an instance", "instances:write", "member",
         "POST /api/agent/channel-instances", "POST /api/agent/channels", "InstanceService/CreateInstance"),
    rule("change an instance by its id in the body", "instances:write", "user and instance 3",
         "POST /api/agent/channel-instances {instance}", "InstanceService/CreateInstance {instance}"),
    rule("change an instance", "instances:write", "instance 3",
         f"PUT {INSTANCE}", "InstanceService/UpdateInstance"),
    rule("delete an instance", "instances:write", "instance 3",
         f"DELETE {INSTANCE}", "DELETE /api/agent/channels/instance/{instance}",
         "InstanceService/DeleteInstance"),
    rule("share an instance", "instances:write", "instance 3",
         f"PUT {INSTANCE}/permissions", "InstanceService/SetInstancePermission"),
    rule("see with whom an instance is shared", "instances:write", "instance 3",
         f"GET {INSTANCE}/permissions", "InstanceService/ListInstancePermissions"),
    rule("pair a phone", "instances:write", "instance 3",
         f"POST {INSTANCE}/request-pairing", "InstanceService/RequestPairing", then=400),
    rule("check a configuration", "instances:write", "instance 3",
         f"POST {INSTANCE}/check", "ConfigCheckService/CheckConfig"),
    rule("check credentials", "instances:write", "instance 3",
         f"POST {INSTANCE}/check-credentials", "ConfigCheckService/CheckCredentials"),
    rule("run a schedule now", "instances:write", "instance 3",
         "POST /api/agent/schedules/{instance}/run", "ScheduleService/RunSchedule", then=409),
    rule("trust the senders of an instance", "instances:write", "admin",
         f"PUT {INSTANCE}/trusted", "InstanceService/SetTrusted"),
)  # fmt: skip

CONVERSATIONS = (
    rule("list conversations", "conversations:read", "nothing",
         "GET /api/agent/conversations", "ConversationService/ListConversations", "tool list_conversations"),
    rule("list the conversations of an instance", "conversations:read", "instance 1",
         f"GET {INSTANCE}/conversations", "GET /api/agent/conversations?instanceId={instance}",
         "ConversationService/ListConversations {instance}", "tool list_conversations {instance}"),
    rule("read a conversation", "conversations:read", "instance 1",
         f"GET {INSTANCE}/conversations/{{session}}/messages", "ConversationService/ListMessages",
         "tool read_conversation", then=404),
    rule("list failed messages", "conversations:read", "instance 1",
         f"GET {INSTANCE}/messages?status=failed", "ConversationService/ListFailedMessages"),
    rule("see a message", "conversations:read", "instance 1",
         f"GET {INSTANCE}/messages/{{message}}", "MessageService/GetMessage", then=404),
    rule("see what happened to a message", "conversations:read", "instance 1",
         f"GET {INSTANCE}/messages/{{message}}/timeline", then=404),
    rule("see what happened to messages", "conversations:read", "instance 1",
         "MessageService/ListTimelines", then=404),
    rule("list deliveries", "conversations:read", "instance 1",
         f"GET {INSTANCE}/deliveries", "InstanceService/ListDeliveries"),
    rule("list messages without an answer", "conversations:read", "instance 1",
         f"GET {INSTANCE}/unanswered", "InstanceService/ListUnanswered"),
    rule("list feedback", "conversations:read", "nothing",
         "GET /api/agent/feedback", "GET /api/agent/feedback/export", "FeedbackService/ListFeedback"),
    rule("list the feedback of an instance", "conversations:read", "instance 1",
         f"GET {INSTANCE}/feedback", "GET /api/agent/feedback/export?instanceId={instance}",
         "FeedbackService/ListFeedback {instance}"),
    rule("list dead letters", "conversations:read", "nothing",
         "GET /api/agent/dead-letters", "MonitoringService/ListDeadLetters"),
    rule("list the dead letters of an instance", "conversations:read", "instance 1",
         "GET /api/agent/dead-letters?instanceId={instance}", "MonitoringService/ListDeadLetters {instance}"),
    rule("see a dead letter", "conversations:read", "instance 1",
         "GET /api/agent/dead-letters/{instance}/{message}", "MonitoringService/GetDeadLetter", then=404),
    rule("see figures", "conversations:read", "nothing",
         "GET /api/agent/figures", "MonitoringService/GetFigures"),
    rule("see the figures of an instance", "conversations:read", "instance 1",
         "GET /api/agent/figures?instanceId={instance}", "MonitoringService/GetFigures {instance}"),
    rule("see reports", "conversations:read", "nothing",
         "GET /api/agent/reports", "ReportService/ListReports"),
    rule("see the reports of an instance", "conversations:read", "instance 1",
         "GET /api/agent/reports?instanceId={instance}", "ReportService/ListReports {instance}"),
    rule("send a message", "messages:send", "instance 2",
         f"POST {INSTANCE}/messages", "MessageService/SendMessage", "tool send_message", then=404),
    rule("take a conversation over", "messages:send", "instance 2",
         f"PUT {INSTANCE}/conversations/{{session}}/handler", "ConversationService/SetHandler", then=404),
    rule("change a conversation", "messages:send", "instance 2",
         f"PUT {INSTANCE}/conversations/{{session}}/state", "ConversationService/ChangeConversation",
         "tool change_conversation", then=404),
    rule("add a note", "messages:send", "instance 2 and user",
         f"POST {INSTANCE}/conversations/{{session}}/notes", "ConversationService/AddNote", "tool add_note",
         then=404),
    rule("count conversations", "conversations:read", "nothing",
         "GET /api/agent/conversations/counts", "ConversationService/CountConversations"),
    rule("list snippets", "conversations:read or messages:send", "nothing",
         "GET /api/agent/snippets", "SnippetService/ListSnippets", "tool list_snippets"),
    rule("write a snippet", "messages:send", "user",
         "POST /api/agent/snippets", "SnippetService/CreateSnippet"),
    # Who sees and changes one is tested in teamwork.feature.
    rule("see a snippet", "conversations:read or messages:send", "nothing",
         "GET /api/agent/snippets/{delivery}", "SnippetService/GetSnippet", then=404),
    rule("change a snippet", "messages:send", "nothing",
         "PUT /api/agent/snippets/{delivery}", "SnippetService/ChangeSnippet", then=404),
    rule("delete a snippet", "messages:send", "nothing",
         "DELETE /api/agent/snippets/{delivery}", "SnippetService/DeleteSnippet", then=404),
    rule("list approvals", "conversations:read or messages:send", "nothing",
         "GET /api/agent/approvals", "ApprovalService/ListApprovals", "tool list_approvals"),
    # Who sees and decides one is tested in approvals.feature.
    rule("see an approval", "conversations:read or messages:send", "nothing",
         "GET /api/agent/approvals/{delivery}", "ApprovalService/GetApproval", then=404),
    rule("decide about a tool", "messages:send", "nothing",
         "POST /api/agent/approvals/{delivery}/decision", "ApprovalService/DecideApproval",
         "tool decide_approval", then=404),
    rule("process a message again", "messages:send", "instance 2",
         f"POST {INSTANCE}/messages/{{message}}/rerun", "ConversationService/RerunMessage", then=404),
    rule("send a delivery again", "messages:send", "instance 2",
         f"POST {INSTANCE}/deliveries/{{delivery}}/replay", "InstanceService/ReplayDelivery", then=404),
    rule("drop a delivery", "messages:send", "instance 2",
         f"DELETE {INSTANCE}/deliveries/{{delivery}}", "InstanceService/DropDelivery", then=404),
    rule("answer a message without an answer", "messages:send", "instance 2",
         f"POST {INSTANCE}/unanswered/{{delivery}}/release", "InstanceService/ReleaseUnanswered", then=404),
    # Each item has a result of its own, also one that is refused.
    rule("replay dead letters", "messages:send", "nothing",
         "POST /api/agent/dead-letters/replay", "MonitoringService/ReplayDeadLetters"),
    rule("drop dead letters", "messages:send", "nothing",
         "POST /api/agent/dead-letters/drop", "MonitoringService/DropDeadLetters"),
    rule("erase a conversation", "messages:send", "instance 3",
         f"DELETE {INSTANCE}/conversations/{{session}}", "ConversationService/EraseConversation"),
)  # fmt: skip

PERSON = "/api/agent/people/{person}"
CUSTOMERS = (
    rule("list people", "conversations:read", "nothing", "GET /api/agent/people", "PeopleService/ListPeople"),
    rule("see a person", "conversations:read", "instance 1", f"GET {PERSON}", "PeopleService/GetPerson"),
    rule("change a person", "messages:send", "instance 2", f"PUT {PERSON}", "PeopleService/ChangePerson"),
    rule("merge people", "messages:send", "instance 2",
         f"POST {PERSON}/merge", "PeopleService/MergePeople", then=404),
    rule("split a person", "messages:send", "instance 2",
         f"POST {PERSON}/split", "PeopleService/SplitPerson", then=400),
    rule("export a person", "conversations:read", "instance 3",
         f"POST {PERSON}/export", "PrivacyService/ExportPerson"),
    rule("erase a person", "messages:send", "instance 3",
         f"POST {PERSON}/erase", "PrivacyService/ErasePerson"),
    rule("list exports and erasures", "conversations:read", "nothing",
         "GET /api/agent/people/requests", "PrivacyService/ListPrivacyRequests"),
    rule("see an export or erasure", "conversations:read", "nothing",
         "GET /api/agent/people/requests/{delivery}", "PrivacyService/GetPrivacyRequest", then=404),
)  # fmt: skip

USAGE = (
    rule("see the usage", "instances:read", "nothing", "GET /api/agent/usage", "UsageService/ListUsage"),
    rule("see the usage of an instance", "instances:read", "instance 1",
         "GET /api/agent/usage?instanceId={instance}", "UsageService/ListUsage {instance}"),
    rule("list budgets", "instances:read", "nothing", "GET /api/agent/budgets", "BudgetService/ListBudgets"),
    rule("set the budget of an instance", "instances:write", "instance 3",
         "PUT /api/agent/budgets", "BudgetService/SetBudget {instance}"),
    rule("set the budget of a user", "instances:write", "admin",
         "PUT /api/agent/budgets of a user", "BudgetService/SetBudget"),
    rule("delete a budget", "instances:write", "nothing",
         "DELETE /api/agent/budgets/{delivery}", "BudgetService/DeleteBudget", then=404),
)  # fmt: skip

EVENTS = (
    rule("watch events", "events:read", "nothing", "GET /api/agent/events", "Events/Watch"),
    rule("watch the events of an instance", "events:read", "instance 1",
         "GET /api/agent/events?instanceId={instance}", "Events/Watch {instance}"),
    rule("subscribe to events", "events:read", "member",
         "POST /api/agent/event-subscriptions", "SubscriptionService/CreateSubscription"),
    rule("list subscriptions", "events:read", "nothing",
         "GET /api/agent/event-subscriptions", "SubscriptionService/ListSubscriptions"),
    rule("see a subscription", "events:read", "owner",
         f"GET {SUBSCRIPTION}", "SubscriptionService/GetSubscription"),
    rule("change a subscription", "events:read", "owner",
         f"PUT {SUBSCRIPTION}", "SubscriptionService/ChangeSubscription"),
    rule("delete a subscription", "events:read", "owner",
         f"DELETE {SUBSCRIPTION}", "SubscriptionService/DeleteSubscription"),
    rule("test a subscription", "events:read", "owner",
         f"POST {SUBSCRIPTION}/test", "SubscriptionService/TestSubscription"),
    rule("list pushes", "events:read", "owner",
         f"GET {SUBSCRIPTION}/deliveries", "SubscriptionService/ListPushes"),
    rule("push again", "events:read", "owner",
         f"POST {SUBSCRIPTION}/deliveries/{{delivery}}/replay", "SubscriptionService/ReplayPush", then=404),
)  # fmt: skip

AGENTS = (
    rule("list agents", "instances:read or agents:write", "nothing",
         "GET /api/agent/agents", "AgentService/ListAgents"),
    rule("see an agent", "instances:read or agents:write", "agent 1",
         f"GET {AGENT}", "AgentService/GetAgent"),
    rule("test an agent", "agents:write", "user and agent 1",
         f"POST {AGENT}/test", "AgentService/TestAgent"),
    rule("make an agent", "agents:write", "member", "POST /api/agent/agents", "AgentService/CreateAgent"),
    rule("change an agent", "agents:write", "agent 2", f"PUT {AGENT}", "AgentService/UpdateAgent"),
    rule("delete an agent", "agents:write", "agent 3", f"DELETE {AGENT}", "AgentService/DeleteAgent"),
    rule("share an agent", "agents:write", "agent 3",
         f"PUT {AGENT}/permissions", "AgentService/SetAgentPermission"),
    rule("see with whom an agent is shared", "agents:write", "agent 3",
         f"GET {AGENT}/permissions", "AgentService/ListAgentPermissions"),
    rule("trust an agent", "agents:write", "admin", f"PUT {AGENT}/trusted", "AgentService/SetAgentTrusted"),
    rule("see the rules of resources", "instances:read or agents:write", "admin",
         "GET /api/agent/resources", "ResourceService/ListRules"),
    rule("try a resource", "agents:write", "no responder",
         "POST /api/agent/resources/try", "ResourceService/TryResource"),
)  # fmt: skip

KNOWLEDGE = (
    rule("list bases", "knowledge:read", "nothing",
         "GET /api/agent/kb", "KnowledgeService/ListBases", "tool list_knowledge_bases", "resources"),
    rule("see the rules of uploads", "knowledge:read", "nothing",
         "GET /api/agent/kb/upload-rules", "BaseFileService/GetUploadRules"),
    rule("see a base", "knowledge:read or knowledge:write", "base 1",
         f"GET {BASE}", "KnowledgeService/GetBase"),
    rule("read a base with its files", "knowledge:read", "base 1", "resource {base}"),
    # The interface documents these reads as open to all who have a key. Responders see what is shared with them.
    rule("list files", "knowledge:read", "base 0", f"GET {BASE}/files", "KnowledgeService/ListFiles"),
    rule("see a file", "knowledge:read", "file",
         "GET /api/agent/kb/file/{file}", "KnowledgeService/GetFile", "KnowledgeService/StreamFile"),
    rule("download a file", "knowledge:read", "file",
         "GET /api/agent/kb/download/{file}", "KnowledgeService/Download"),
    rule("list the chunks of a file", "knowledge:read", "file",
         "GET /api/agent/kb/chunks/{file}", "KnowledgeService/ListChunks"),
    rule("see a chunk", "knowledge:read", "nothing",
         "GET /api/agent/kb/chunk/{chunk}", "KnowledgeService/GetChunk", "tool read_chunk", then=404),
    rule("search a base", "knowledge:read", "base 0",
         f"POST {BASE}/search", "KnowledgeService/Search", "tool search_knowledge"),
    rule("read the text of a file", "knowledge:read", "base 1 of the file",
         "GET /api/agent/kb/file/{file}/text", "BaseFileService/ReadTextWindow", "tool read_file",
         "resource {file}"),
    rule("list the states of files", "knowledge:read", "base 1",
         f"GET {BASE}/file-states", "BaseFileService/ListFileStates"),
    rule("see the state of a file", "knowledge:read", "base 1",
         f"GET {BASE}/files/{{file}}", "BaseFileService/GetFileState"),
    rule("read the text of a file around its chunks", "knowledge:read", "base 1",
         f"GET {BASE}/files/{{file}}/text", "BaseFileService/ReadFileText"),
    rule("explain a search", "knowledge:read", "base 1",
         f"POST {BASE}/search/explain", "BaseFileService/ExplainSearch"),
    rule("ask a base", "knowledge:read", "base 1", f"POST {BASE}/ask", "QuestionService/Ask"),
    rule("list sources", "knowledge:read", "base 1", f"GET {BASE}/sources", "SourceService/ListSources"),
    rule("list the pages of a source", "knowledge:read", "base 1",
         f"GET {BASE}/sources/{{source}}/pages", "SourceService/ListSourcePages", then=404),
    rule("see with whom a base is shared", "knowledge:read", "base 3",
         f"GET {BASE}/permissions", "KnowledgeService/ListPermissions"),
    rule("make a base", "knowledge:write", "member", "POST /api/agent/kb", "KnowledgeService/CreateBase"),
    rule("upload a file", "knowledge:write", "user and base 2",
         f"POST {BASE}/uploadfile", "KnowledgeService/Upload"),
    rule("delete a file", "knowledge:write", "base 2",
         f"DELETE {BASE}/files/{{file}}", "BaseFileService/DeleteFile"),
    rule("process a file again", "knowledge:write", "user and base 2",
         f"POST {BASE}/files/{{file}}/retry", "BaseFileService/RetryFile", then=409),
    rule("add pages", "knowledge:write", "user and base 2", f"POST {BASE}/pages", "SourceService/AddPages"),
    rule("read a source now", "knowledge:write", "base 2",
         f"POST {BASE}/sources/{{source}}/read", "SourceService/ReadSource", then=404),
    rule("remove a source", "knowledge:write", "base 2",
         f"DELETE {BASE}/sources/{{source}}", "SourceService/RemoveSource", then=404),
    rule("change a base", "knowledge:write", "base 2", f"PUT {BASE}", "KnowledgeService/UpdateBase"),
    rule("delete a base", "knowledge:write", "base 3", f"DELETE {BASE}", "KnowledgeService/DeleteBase"),
    rule("share a base", "knowledge:write", "base 3",
         f"PUT {BASE}/permissions", "KnowledgeService/SetPermission"),
)  # fmt: skip

PEOPLE = (
    rule("see who calls", "", "user", "GET /api/agent/me", "UserService/GetMe"),
    rule("see who calls, as a gateway", "", "nothing", "AccessService/WhoAmI"),
    rule("list users", "admin", "admin", "GET /api/agent/users", "UserService/ListUsers"),
    rule("see a user", "admin", "admin", "GET /api/agent/users/{user}", "UserService/GetUser"),
    rule("make a user", "admin", "admin", "POST /api/agent/users", "UserService/CreateUser"),
    rule("change a user", "admin", "admin", "PUT /api/agent/users/{user}", "UserService/ChangeUser"),
    rule("delete a user", "admin", "admin", "DELETE /api/agent/users/{user}", "UserService/DeleteUser"),
    rule("list teams", "admin or conversations:read", "nothing",
         "GET /api/agent/teams", "TeamService/ListTeams"),
    rule("see a team", "admin or conversations:read", "in the team",
         "GET /api/agent/teams/{team}", "TeamService/GetTeam"),
    rule("make a team", "admin", "admin", "POST /api/agent/teams", "TeamService/CreateTeam"),
    rule("change the members of a team", "admin", "leads the team",
         "PUT /api/agent/teams/{team}", "TeamService/ChangeTeam"),
    rule("rename a team", "admin", "admin",
         "PUT /api/agent/teams/{team} name", "TeamService/ChangeTeam name"),
    rule("delete a team", "admin", "admin", "DELETE /api/agent/teams/{team}", "TeamService/DeleteTeam"),
    rule("list invitations", "admin", "admin",
         "GET /api/agent/invitations", "InvitationService/ListInvitations"),
    rule("invite a person", "admin", "admin",
         "POST /api/agent/invitations", "InvitationService/CreateInvitation"),
    rule("withdraw an invitation", "admin", "admin",
         "DELETE /api/agent/invitations/{delivery}", "InvitationService/RevokeInvitation", then=404),
    rule("list one's passkeys", "admin", "user",
         "GET /api/agent/passkeys", "PasskeyService/ListPasskeys"),
    rule("remove a passkey", "admin", "user",
         "DELETE /api/agent/passkeys/{delivery}", "PasskeyService/RemovePasskey", then=404),
    rule("remove the passkeys of a user", "admin", "admin",
         "DELETE /api/agent/users/{user}/passkeys", "PasskeyService/ResetPasskeys"),
    rule("begin to make a passkey", "", "user and browser", "PasskeyService/StartPasskey"),
    rule("make or use a passkey", "", "browser",
         "PasskeyService/AddPasskey", "PasskeyService/AskForPasskey", "PasskeyService/ConfirmPasskey"),
    rule("list keys", "admin", "nothing", "GET /api/agent/keys", "KeyService/ListKeys"),
    rule("make a key", "admin", "user", "POST /api/agent/keys", "KeyService/CreateKey"),
    rule("make a key for another user", "admin", "admin",
         "POST /api/agent/keys for another", "KeyService/CreateKey for another"),
    rule("revoke a key", "admin", "owner", "DELETE /api/agent/keys/{key}", "KeyService/RevokeKey"),
    rule("read the audit log", "admin", "admin",
         "GET /api/agent/audit", "GET /api/agent/audit/export", "AuditService/ListAuditEntries"),
    rule("look at the installation", "admin", "admin",
         "GET /api/agent/doctor", "MonitoringService/ListFindings"),
)  # fmt: skip

IDENTITIES = (
    rule("list one's identities", "admin", "user",
         f"GET {VERIFICATION}/identities", "VerificationService/ListIdentities"),
    rule("remove an identity", "admin", "user",
         f"DELETE {VERIFICATION}/identities/{{field}}/{{value}}", "VerificationService/RemoveIdentity",
         then=404),
    rule("verify an address", "admin", "user",
         f"POST {VERIFICATION}/start-email", "VerificationService/StartEmail", then=400),
    rule("enter a code", "admin", "user",
         f"POST {VERIFICATION}/verify-email", "VerificationService/VerifyEmail", then=400),
    rule("verify an account of a messenger", "admin", "user",
         f"POST {VERIFICATION}/start-bot-messenger", "VerificationService/StartBotMessenger", then=400),
    rule("verify an account of a platform", "admin", "user",
         f"POST {VERIFICATION}/start-workspace-chat", f"POST {VERIFICATION}/start-gaming-chat",
         f"POST {VERIFICATION}/start-community-chat", f"POST {VERIFICATION}/start-enterprise-chat",
         "VerificationService/StartOAuth", then=400),
    rule("store the identities of a contact", "admin", "service",
         f"POST {VERIFICATION}/bot-messenger-callback", "VerificationService/CompleteBotMessenger", then=400),
)  # fmt: skip

OPEN = (
    rule("list the ways to verify oneself", "", "no key",
         f"GET {VERIFICATION}/providers", "VerificationService/ListProviders"),
    rule("come back from a provider", "", "no key",
         f"GET {VERIFICATION}/callback/{{provider}}", "VerificationService/CompleteOAuth"),
    rule("call the verification bot", "", "no key",
         f"POST {VERIFICATION}/bot-messenger-bot-webhook", "VerificationService/BotWebhook", then=404),
    rule("open a file by its signed address", "", "no key",
         "GET /api/agent/files/{token}/{name}", "MessageFileService/OpenFile", then=404),
    rule("open a web chat", "", "no key",
         "POST /api/agent/web-chat/{publicId}/session", "WebChatService/OpenChat", then=404),
    rule("write in a web chat", "", "no key",
         "POST /api/agent/web-chat/{publicId}/messages", "WebChatService/PostMessage", then=404),
    rule("watch a web chat", "", "no key",
         "GET /api/agent/web-chat/{publicId}/stream", "WebChatService/WatchChat", then=404),
    rule("ask whether a page may chat", "", "no key", "WebChatService/CheckOrigin"),
    rule("call an instance", "", "no key",
         "GET /api/agent/channels/{type}/{instance}/{callback}",
         "POST /api/agent/channels/{type}/{instance}/{callback}",
         "CallbackService/HandleCallback", "CallbackService/StreamCallbacks", "CallbackService/StreamAnswer"),
    rule("sign in and out", "", "no key", "AccessService/SignIn", "AccessService/SignOut",
         "InvitationService/GetInvitation", "InvitationService/AcceptInvitation",
         "PasskeyService/GetPasskeyChallenge", "PasskeyService/SignInWithPasskey",
         "MailLinkService/GetMailOffer", "MailLinkService/SendMailLink",
         "PlatformSignInService/ListPlatforms", "PlatformSignInService/StartPlatformSignIn",
         "PlatformSignInService/FinishPlatformSignIn",
         "SingleSignOnService/GetProvider", "SingleSignOnService/StartSingleSignOn",
         "SingleSignOnService/FinishSingleSignOn", "SingleSignOnService/GetSignOutAddress"),
    rule("look at the process", "", "no key", "GET /healthz", "GET /readyz", "GET /metrics"),
)  # fmt: skip

NOTIFICATIONS = (
    rule("list notifications", "conversations:read", "user",
         "GET /api/agent/notifications", "NotificationService/ListNotifications"),
    rule("count unread notifications", "conversations:read", "user",
         "GET /api/agent/notifications/unread", "NotificationService/CountUnreadNotifications"),
    rule("mark notifications as read", "conversations:read", "user",
         "POST /api/agent/notifications/read", "NotificationService/MarkNotificationsRead"),
    rule("see one's settings of notifications", "conversations:read", "user",
         "GET /api/agent/me/notifications", "NotificationService/GetNotificationSettings"),
    rule("change one's settings of notifications", "messages:send", "user",
         "PUT /api/agent/me/notifications", "NotificationService/SetNotificationSettings"),
    rule("be notified through an instance", "messages:send", "user and instance 2",
         "PUT /api/agent/me/notifications {instance}",
         "NotificationService/SetNotificationSettings {instance}"),
)  # fmt: skip

RULES = (
    *CHANNELS, *INSTANCES, *CONVERSATIONS, *CUSTOMERS, *USAGE, *EVENTS, *AGENTS, *KNOWLEDGE, *PEOPLE,
    *NOTIFICATIONS, *IDENTITIES, *OPEN,
)  # fmt: skip
