"""The objects of the REST interface. Written by `make sdk` from its OpenAPI description."""

from __future__ import annotations

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict


class Accepted(TypedDict):
    success: bool
    message: str


class ActivityHealth(TypedDict):
    healthy: bool
    lastSuccess: str | None
    lastError: str | None
    lastErrorAt: str | None


class Actor(TypedDict):
    userId: str
    keyId: int | None
    sessionId: int | None
    address: str


class AddNote(TypedDict):
    text: str


class AddPages(TypedDict):
    url: str
    every: NotRequired[float | None]


KnowledgeItem: TypeAlias = int


class AgentExchange(TypedDict):
    method: str
    url: str
    requestHeaders: dict[str, str]
    requestBody: str
    status: int
    responseHeaders: dict[str, str]
    responseBody: str
    error: str
    seconds: float


class AgentPermission(TypedDict):
    userId: str | None
    teamId: NotRequired[int | None]
    level: int


class AgentPermissionBody(TypedDict):
    userId: NotRequired[str | None]
    teamId: NotRequired[int | None]
    level: int


class AgentPermissions(TypedDict):
    permissions: list[AgentPermission]


class AgentPrices(TypedDict):
    input: float
    output: float
    currency: str


class AgentTrust(TypedDict):
    trusted: bool


class Alive(TypedDict):
    status: Literal["ok"]


class Approval(TypedDict):
    id: int
    state: Literal["waiting", "approved", "rejected", "expired"]
    tool: str
    parameters: dict[str, Any]
    approver: str
    resource: str
    instanceId: int
    sessionId: str
    messageId: str
    sender: str
    text: str
    askedAt: str
    expiresAt: str
    decidedBy: str
    decidedAt: str | None
    reason: str


class ApprovalList(TypedDict):
    approvals: list[Approval]
    next: int | None


class ApprovalRule(TypedDict):
    tool: str
    by: NotRequired[str]
    minutes: NotRequired[int | None]


ApprovalState: TypeAlias = Literal["waiting", "decided"]


class AskTurn(TypedDict):
    role: Literal["user", "assistant"]
    content: str


class AuditEntry(TypedDict):
    id: int
    at: str
    actor: Actor
    action: str
    object: str
    result: str
    data: dict[str, Any]
    requestId: str
    hash: str
    previous: str


class AuditLog(TypedDict):
    entries: list[AuditEntry]
    next: int | None


class AuthUrl(TypedDict):
    success: bool
    authUrl: str


class Backlog(TypedDict):
    waitingSeconds: float
    pendingSeconds: float


class BotCallback(TypedDict):
    token: str
    bot_messenger_id: str | int
    phone: str | int


class BotLinkAnswer(TypedDict):
    success: bool
    deepLink: str
    expiresInSeconds: int
    message: str


class BotVerified(TypedDict):
    success: bool
    message: str
    userId: str


class BudgetBody(TypedDict):
    userId: NotRequired[str | None]
    instanceId: NotRequired[int | None]
    resourceId: NotRequired[str | None]
    tokens: NotRequired[int | None]
    cost: NotRequired[float | None]
    currency: NotRequired[str | None]


class BudgetRecord(TypedDict):
    id: int
    userId: str | None
    instanceId: int | None
    resourceId: str | None
    tokens: int | None
    cost: float | None
    currency: str | None
    byAdmin: bool
    createdBy: str
    updatedAt: str
    month: str
    spent: float
    percent: float


class ChangeSnippet(TypedDict):
    name: NotRequired[str | None]
    text: NotRequired[str | None]


InstanceId: TypeAlias = int


class ChangeSubscription(TypedDict):
    kinds: NotRequired[list[str] | None]
    instanceIds: NotRequired[list[InstanceId] | None]
    secret: NotRequired[str | None]
    url: NotRequired[str | None]
    status: NotRequired[Literal["active", "off"] | None]


class ChangeUser(TypedDict):
    name: NotRequired[str | None]
    email: NotRequired[str | None]
    role: NotRequired[Literal["responder", "member", "admin"] | None]
    state: NotRequired[Literal["active", "suspended"] | None]


class ChatMessageTaken(TypedDict):
    id: str


class ChatSession(TypedDict):
    visitor: str
    title: str
    greeting: str
    colour: str
    maxFileBytes: int
    maxTextLength: int


class ChoiceToSend(TypedDict):
    label: str
    value: NotRequired[str]


class Chunk(TypedDict):
    chunkId: str
    userId: str
    chunk: str
    fileId: str
    metadata: str | None
    createdAt: str


class ChunkAnswer(TypedDict):
    chunk: Chunk


class ChunkPlace(TypedDict):
    chunkId: str
    position: int
    start: int | None
    end: int | None
    metadata: str | None


class Citation(TypedDict):
    index: int
    chunkId: str
    fileName: str
    page: int | None
    quote: str


class CitedPassage(TypedDict):
    index: int
    chunkId: str
    fileName: str
    page: int | None
    quote: str
    place: str


class CodeSent(TypedDict):
    success: bool
    expiresInSeconds: int
    message: str


class ConfigFieldAnswer(TypedDict):
    name: str
    type: Literal["string", "number", "boolean"]
    description: str
    required: bool
    secret: bool
    basic: bool
    format: str
    choices: list[str]
    suggested: str


class ConfigToCheck(TypedDict):
    config: dict[str, Any]
    channelName: NotRequired[str | None]
    downStreamResourceId: NotRequired[str | None]


class ConversationSender(TypedDict):
    externalId: str
    displayName: str
    userId: str | None


ConversationState: TypeAlias = Literal["open", "snoozed", "closed"]


class Cooldown(TypedDict):
    seconds: float
    conversations: int


class CreateInvitation(TypedDict):
    email: str
    role: NotRequired[Literal["responder", "member", "admin"]]
    teams: NotRequired[list[int]]


class CreateKey(TypedDict):
    name: NotRequired[str | None]
    role: NotRequired[Literal["responder", "member", "admin"]]
    scopes: NotRequired[
        list[
            Literal[
                "instances:read",
                "instances:write",
                "conversations:read",
                "messages:send",
                "knowledge:read",
                "knowledge:write",
                "events:read",
                "agents:write",
                "admin",
            ]
        ]
        | None
    ]
    userId: NotRequired[str | None]
    expiresInDays: NotRequired[int | None]


class CreateKnowledgeBase(TypedDict):
    name: str
    description: NotRequired[str | None]
    kb_manifest: NotRequired[dict[str, Any] | None]


class CreateSnippet(TypedDict):
    name: str
    text: str
    teamId: NotRequired[int | None]
    forAll: NotRequired[bool]


class CreateSubscription(TypedDict):
    kinds: NotRequired[list[str] | None]
    instanceIds: NotRequired[list[InstanceId] | None]
    secret: NotRequired[str | None]
    url: str


class CreateUser(TypedDict):
    id: str
    name: NotRequired[str | None]
    email: NotRequired[str | None]
    role: NotRequired[Literal["responder", "member", "admin"]]


class CreatedInstance(TypedDict):
    success: bool
    message: str
    instanceId: int
    microserviceConnected: bool
    webhookRegistered: NotRequired[bool | None]
    webhookError: str | None
    operation: Literal["created", "updated"]


class CreatedKnowledgeBase(TypedDict):
    id: int
    name: str
    description: str
    type: Literal["kb"]
    status: Literal["published"]


class CredentialsAnswer(TypedDict):
    state: Literal["accepted", "refused", "unreachable", "nothing-to-check"]
    message: str
    action: str


class CredentialsToCheck(TypedDict):
    config: dict[str, Any]


class DeadLetterName(TypedDict):
    instanceId: int
    messageId: str


class DeadLetterResult(TypedDict):
    instanceId: int
    messageId: str
    success: bool
    error: str | None


class DeadLetterResults(TypedDict):
    results: list[DeadLetterResult]


class DeadPart(TypedDict):
    deliveryId: int
    attempts: int
    error: str | None
    payload: str


class DecideApproval(TypedDict):
    decision: Literal["approved", "rejected"]
    reason: NotRequired[str]


class DeletedInstance(TypedDict):
    success: bool
    message: str
    instanceId: str


class DeliveryRecord(TypedDict):
    id: int
    status: Literal["pending", "sent", "dead"]
    attempts: int
    lastError: str | None
    createdAt: str
    nextAttemptAt: str | None


Direction: TypeAlias = Literal["in", "out", "note"]


class Done(TypedDict):
    success: bool


class EmailVerified(TypedDict):
    success: bool
    message: str
    email: str


class Empty(TypedDict):
    pass


class EventSubscription(TypedDict):
    id: int
    url: str
    kinds: list[str]
    instanceIds: list[int]
    userId: str
    status: Literal["active", "off"]
    reason: str | None
    healthy: bool
    problem: str | None
    createdAt: str
    updatedAt: str


class ExplainedHit(TypedDict):
    chunk: str
    chunkId: str
    fileId: str
    fileName: str
    metadata: str | None
    similarity: float
    textScore: float
    vectorScore: float | None
    rank: int | None
    textRank: int | None
    vectorRank: int | None
    highlights: list[tuple[int, int]]


class FieldFault(TypedDict):
    field: str
    message: str


class FileFormat(TypedDict):
    format: str
    available: bool
    how: str


class FileOfVisitor(TypedDict):
    name: str
    mimeType: NotRequired[str]
    dataBase64: str


class FileRecord(TypedDict):
    id: int
    knowledge_base_id: int
    file_name: str
    file_path: str
    fileHash: str
    text: str
    created_at: str
    updated_at: str
    status: Literal["processing", "ready", "failed"]
    progress: float
    error: str | None
    warnings: list[str]
    queuePosition: int | None


class FileState(TypedDict):
    id: int
    knowledgeBaseId: int
    fileId: str
    fileName: str
    fileSize: int
    mimeType: str
    uploadedBy: str
    createdAt: str
    updatedAt: str
    status: Literal["processing", "ready", "failed"]
    progress: float
    error: str | None
    warnings: list[str]
    chunkCount: int
    step: Literal["waiting", "reading", "preparing_model", "embedding"] | None
    queuePosition: int | None


class FileStateAnswer(TypedDict):
    file: FileState


class FileStateList(TypedDict):
    files: list[FileState]
    next: int | None


class FileToSend(TypedDict):
    name: str
    mimeType: NotRequired[str]
    url: NotRequired[str | None]
    dataBase64: NotRequired[str | None]


class Finding(TypedDict):
    grade: Literal["ok", "note", "fail"]
    subject: str
    text: str


class FindingList(TypedDict):
    findings: list[Finding]


class IdentityRemoved(TypedDict):
    success: bool
    message: str


class InstanceHealth(TypedDict):
    instanceId: int
    healthy: bool
    warnings: list[str]
    notes: list[str]
    lastSuccess: str | None
    lastError: str | None
    lastErrorAt: str | None
    nextRun: str | None
    queue: dict[str, int]
    pairingCode: str | None
    breaker: Literal["closed", "open", "half_open"]
    breakerUntil: str | None
    receiving: ActivityHealth
    processing: ActivityHealth
    sending: ActivityHealth
    unanswered: dict[str, int]


class InstanceName(TypedDict):
    id: int
    userId: str
    channelId: str
    channelName: str


class InstancePermission(TypedDict):
    userId: str | None
    teamId: NotRequired[int | None]
    level: int


class InstancePermissionBody(TypedDict):
    userId: NotRequired[str | None]
    teamId: NotRequired[int | None]
    level: int


class InstancePermissions(TypedDict):
    permissions: list[InstancePermission]


class InstanceState(TypedDict):
    instance: InstanceName
    health: InstanceHealth
    backlog: Backlog
    cooldown: Cooldown


class InstanceTrust(TypedDict):
    trusted: bool


class KnowledgeBase(TypedDict):
    id: int
    name: str
    description: str
    created_by: str
    created_at: str
    updated_at: str


class KnowledgeBaseAnswer(TypedDict):
    knowledgeBase: KnowledgeBase


class ListedFileRecord(TypedDict):
    id: NotRequired[int]
    knowledge_base_id: NotRequired[int]
    file_name: NotRequired[str]
    file_path: NotRequired[str]
    fileHash: NotRequired[str]
    text: NotRequired[str]
    created_at: NotRequired[str]
    updated_at: NotRequired[str]
    status: NotRequired[Literal["processing", "ready", "failed"]]
    progress: NotRequired[float]
    error: NotRequired[str | None]
    warnings: NotRequired[list[str]]
    queuePosition: NotRequired[int | None]


class ListedKnowledgeBase(TypedDict):
    id: int
    name: str
    description: str
    created_by: str
    created_at: str
    updated_at: str
    permission_level: int


MailPace: TypeAlias = Literal["at_once", "hourly", "daily"]


Id: TypeAlias = int


class MarkRead(TypedDict):
    ids: NotRequired[list[Id]]
    upTo: NotRequired[int]


class Member(TypedDict):
    userId: str
    lead: bool


class MemberToSave(TypedDict):
    userId: str
    lead: NotRequired[bool]


PersonId: TypeAlias = int


class MergedPeople(TypedDict):
    personIds: list[PersonId]


class MessageFile(TypedDict):
    name: str
    mimeType: str
    size: int | None
    url: str


class MessageQueued(TypedDict):
    success: bool
    messageId: str
    sessionId: str
    status: NotRequired[Literal["queued"]]


class NotReady(TypedDict):
    error: str
    status: Literal["not ready"]
    checks: dict[str, str]


NotificationKind: TypeAlias = Literal[
    "wanted", "assigned", "mentioned", "approval", "unhealthy", "healthy", "budget"
]


class OpenChat(TypedDict):
    visitor: NotRequired[str]
    identity: NotRequired[str]


class Pagination(TypedDict):
    currentPage: int
    totalPages: int
    totalCount: int
    limit: int
    offset: int


class PairingAnswer(TypedDict):
    success: bool
    pairingCode: str | None
    message: str


class Passkey(TypedDict):
    id: int
    name: str
    createdAt: str
    usedAt: str | None


class PasskeyList(TypedDict):
    passkeys: list[Passkey]


class PasskeysRemoved(TypedDict):
    removed: int


Period: TypeAlias = Literal["hour", "day"]


class Permission(TypedDict):
    userId: str | None
    teamId: NotRequired[int | None]
    permission_level: int


class PermissionList(TypedDict):
    permissions: list[Permission]


class PersonConversation(TypedDict):
    instanceId: int
    channelId: str
    channelName: str
    sessionId: str
    senderId: str
    senderName: str
    firstAt: str
    lastAt: str


Label: TypeAlias = str


class PersonFields(TypedDict):
    name: NotRequired[str | None]
    language: NotRequired[str | None]
    labels: NotRequired[list[Label] | None]


class PersonIdentity(TypedDict):
    field: str
    value: str


class Place(TypedDict):
    position: int | None
    title: str | None
    headingPath: list[str]
    page: int | None
    pageEnd: int | None
    slide: int | None
    sheet: str | None
    rowStart: int | None
    rowEnd: int | None
    timeStart: float | None
    timeEnd: float | None


class PostChatMessage(TypedDict):
    id: str
    text: NotRequired[str]
    choice: NotRequired[str]
    files: NotRequired[list[FileOfVisitor]]


class PrivacyRequest(TypedDict):
    id: int
    kind: Literal["export", "erase"]
    personId: int
    owner: str
    requestedBy: str
    state: Literal["pending", "running", "done", "failed"]
    done: int
    total: int
    error: str | None
    url: str | None
    size: int | None
    createdAt: str
    finishedAt: str | None
    expiresAt: str | None


class PrivacyRequestList(TypedDict):
    requests: list[PrivacyRequest]
    next: str | None


class PushRecord(TypedDict):
    id: int
    eventId: int
    status: Literal["pending", "sent", "dead"]
    attempts: int
    error: str | None
    createdAt: str
    nextAttemptAt: str | None
    kind: str
    answer: int | None


class PushTestAnswer(TypedDict):
    success: bool
    error: str | None


class QueryWord(TypedDict):
    word: str
    chunks: int
    similar: list[str]


class Ready(TypedDict):
    status: Literal["ok"]
    checks: dict[str, Literal["ok", "degraded"]]
    reasons: dict[str, str]


class ReportTimes(TypedDict):
    count: int
    meanSeconds: float | None
    medianSeconds: float | None


class ResourceRule(TypedDict):
    source: Literal["rule", "agent", "built-in", "default"]
    match: str
    kind: Literal[
        "builtin",
        "http",
        "grpc",
        "chat-completions",
        "responses",
        "langgraph",
        "ag-ui",
        "a2a",
        "dify",
        "flowise",
    ]
    target: str
    seconds: float
    line: int
    model: str
    tools: list[str]
    hasToken: bool
    knowledge: list[int]
    mcpServers: list[str]
    agentId: int


class ResourceRules(TypedDict):
    rules: list[ResourceRule]
    file: str
    readAt: str | None
    fault: str


Role: TypeAlias = Literal["responder", "member", "admin"]


RouteHours = TypedDict(
    "RouteHours",
    {
        "days": NotRequired[list[str]],
        "from": str,
        "to": str,
        "timeZone": str,
    },
)


RouteHoursToSave = TypedDict(
    "RouteHoursToSave",
    {
        "days": NotRequired[str | list[str]],
        "from": str,
        "to": str,
        "timeZone": NotRequired[str],
    },
)


class Schedule(TypedDict):
    instanceId: int
    userId: str
    channelId: str
    channelName: str
    kind: Literal["schedule", "poll"]
    description: str
    expression: str
    timezone: str
    nextRun: str | None
    following: list[str]
    running: bool
    failures: int
    lastSuccess: str | None
    lastError: str | None
    lastErrorAt: str | None


class ScheduleList(TypedDict):
    schedules: list[Schedule]
    next: int | None


Scope: TypeAlias = Literal[
    "instances:read",
    "instances:write",
    "conversations:read",
    "messages:send",
    "knowledge:read",
    "knowledge:write",
    "events:read",
    "agents:write",
    "admin",
]


class SearchRequest(TypedDict):
    query: str
    topK: NotRequired[int]
    minSimilarity: NotRequired[float]
    fileIds: NotRequired[list[str] | None]
    perFile: NotRequired[int | None]
    mode: NotRequired[Literal["hybrid", "text", "vector"]]
    highlight: NotRequired[bool]


class SearchResult(TypedDict):
    chunk: str
    fileId: str
    metadata: str | None
    similarity: float
    chunkId: str
    fileName: str
    url: str
    sourceUrl: str | None
    textScore: float | None
    vectorScore: float | None
    highlights: list[tuple[int, int]]
    place: Place


class SetHandler(TypedDict):
    handler: Literal["person", "resource"]
    minutes: NotRequired[int | None]


class SetPermission(TypedDict):
    userId: NotRequired[str | None]
    teamId: NotRequired[int | None]
    permission_level: int


class SetupInstructions(TypedDict):
    webhookRequired: bool
    webhookPath: str
    title: str
    steps: list[str]
    docsUrl: str


class Snippet(TypedDict):
    id: int
    name: str
    text: str
    userId: str | None
    teamId: int | None
    createdAt: str
    updatedAt: str


class SnippetList(TypedDict):
    snippets: list[Snippet]
    next: int | None


class Socket(TypedDict):
    channelId: str
    channelName: str
    status: str
    connectedSince: str


class Source(TypedDict):
    id: int
    knowledgeBaseId: int
    kind: Literal["web", "drive"]
    address: str
    instanceId: int | None
    every: float | None
    createdBy: str
    createdAt: str
    state: Literal["waiting", "reading", "idle"]
    readAt: str | None
    nextAt: str | None
    error: str | None
    note: str | None
    found: int
    read: int
    failed: int
    waiting: int


class SourceAnswer(TypedDict):
    source: Source


class SourceList(TypedDict):
    sources: list[Source]
    next: int | None


class SourcePage(TypedDict):
    id: int
    address: str
    name: str
    status: Literal["waiting", "processing", "read", "failed", "skipped", "gone", "listed"]
    error: str | None
    readAt: str | None
    fileId: str | None


class SourcePageList(TypedDict):
    pages: list[SourcePage]
    next: int | None


class SplitConversation(TypedDict):
    instanceId: int
    sessionId: str


class SplitIdentity(TypedDict):
    field: str
    value: str


class SplitPerson(TypedDict):
    conversations: NotRequired[list[SplitConversation]]
    identities: NotRequired[list[SplitIdentity]]


class StartEmail(TypedDict):
    email: str


class StoredCredentialsToCheck(TypedDict):
    config: NotRequired[dict[str, Any] | None]


class SubscriptionAnswer(TypedDict):
    success: bool
    subscription: EventSubscription
    health: ActivityHealth
    pending: int
    dead: int
    secret: NotRequired[str | None]


class SubscriptionList(TypedDict):
    subscriptions: list[EventSubscription]
    next: int | None


class Team(TypedDict):
    id: int
    name: str
    members: list[Member]
    hours: RouteHours | None
    awayText: str
    createdAt: str


class TeamList(TypedDict):
    teams: list[Team]
    next: int | None


class TemplateToSend(TypedDict):
    name: str
    language: str
    parameters: NotRequired[list[str]]


class TestAgent(TypedDict):
    text: str


class TextWindow(TypedDict):
    fileId: str
    fileName: str
    text: str
    offset: int
    length: int
    remaining: int
    next: int | None


class TimelineStep(TypedDict):
    kind: Literal[
        "received",
        "asked",
        "tool_asked",
        "tool_decided",
        "answered",
        "done",
        "failed",
        "changed",
        "written",
        "queued",
        "sent",
        "delivered",
        "read",
        "dead",
    ]
    at: str | None
    part: int | None
    attempts: int | None
    reason: str | None
    tool: str | None
    parameters: NotRequired[dict[str, Any] | None]
    decision: Literal["approved", "approved_for_session", "rejected", "expired", "withdrawn"] | None
    decider: str | None
    nextAttemptAt: str | None
    platformId: str | None
    resource: NotRequired[str | None]
    route: NotRequired[str | None]
    change: NotRequired[str | None]


class TryResource(TypedDict):
    downStreamResourceId: str
    text: NotRequired[str]
    ask: NotRequired[bool]


class UnansweredRecord(TypedDict):
    id: int
    reason: str
    sender: str
    senderName: str
    subject: str
    text: str
    receivedAt: str


class UnreadAnswer(TypedDict):
    unread: int


class UpdateKnowledgeBase(TypedDict):
    name: NotRequired[str | None]
    description: NotRequired[str | None]


class UpdatedInstance(TypedDict):
    success: bool
    message: str
    instanceId: int
    microserviceConnected: bool
    webhookRegistered: NotRequired[bool | None]
    webhookError: str | None


class UploadRules(TypedDict):
    maxFileBytes: int
    maxFiles: int
    formats: list[FileFormat]


class UploadedFile(TypedDict):
    fileId: str
    fileName: str
    fileSize: int
    mimeType: str
    status: NotRequired[Literal["processing", "ready", "failed"] | None]


class Usage(TypedDict):
    inputTokens: int
    outputTokens: int


class UsageRecord(TypedDict):
    day: str | None
    instanceId: int | None
    resourceId: str | None
    userId: str | None
    currency: str | None
    runs: int
    inputTokens: int
    outputTokens: int
    seconds: float
    cost: float


UserState: TypeAlias = Literal["active", "suspended"]


class VerificationProviders(TypedDict):
    success: bool
    providers: dict[str, bool]


class VerifiedIdentity(TypedDict):
    field: str
    value: str


class VerifyEmail(TypedDict):
    otp: str


class Via(TypedDict):
    instanceId: int
    to: str


class ViaToSave(TypedDict):
    instanceId: int
    to: str


class Voter(TypedDict):
    externalId: str
    displayName: str


Way: TypeAlias = Literal["mail", "message"]


class AdaptersInboundRestConversationsCounts(TypedDict):
    mine: int
    teams: int
    unassigned: int
    open: int
    snoozed: int
    closed: int
    wantsPerson: int
    failed: int


class AdaptersInboundRestMonitoringCounts(TypedDict):
    received: int
    answered: int
    failed: int
    p50Seconds: float | None
    p95Seconds: float | None


class ErrorBody(TypedDict):
    error: str


class Agent(TypedDict):
    id: int
    resourceId: str
    name: str
    owner: str
    kind: str
    knowledge: list[int]
    trusted: bool
    level: int
    fault: str
    createdAt: str
    updatedAt: str
    hasSecret: bool
    prices: AgentPrices | None
    approvalPolicy: list[ApprovalRule]
    settings: dict[str, Any] | None
    tools: list[dict[str, Any]] | None
    mcpServers: list[dict[str, Any]] | None


class AgentBody(TypedDict):
    name: NotRequired[str | None]
    resourceId: NotRequired[str | None]
    kind: NotRequired[str | None]
    settings: NotRequired[dict[str, Any] | None]
    secret: NotRequired[str | None]
    knowledge: NotRequired[list[KnowledgeItem] | None]
    tools: NotRequired[list[dict[str, Any]] | None]
    mcpServers: NotRequired[list[dict[str, Any]] | None]
    prices: NotRequired[AgentPrices | None]
    approvalPolicy: NotRequired[list[ApprovalRule] | None]


class AgentList(TypedDict):
    agents: list[Agent]
    next: int | None


class AskAnswer(TypedDict):
    answer: str
    citations: list[Citation]
    searched: bool


class AskRequest(TypedDict):
    question: str
    history: NotRequired[list[AskTurn]]


class BudgetList(TypedDict):
    budgets: list[BudgetRecord]
    next: int | None


class ChangeConversation(TypedDict):
    assignee: NotRequired[str | None]
    state: NotRequired[ConversationState | None]
    snoozedUntil: NotRequired[str | None]
    labels: NotRequired[list[str] | None]


class ChangeTeam(TypedDict):
    name: NotRequired[str | None]
    members: NotRequired[list[MemberToSave] | None]
    hours: NotRequired[RouteHoursToSave | None]
    awayText: NotRequired[str | None]


class ChannelDefinition(TypedDict):
    id: str
    name: str
    description: str
    configDefinition: str
    type: str
    setupInstructions: SetupInstructions


class ChannelForm(TypedDict):
    id: str
    name: str
    fields: list[ConfigFieldAnswer]
    advice: list[list[list[str]]]
    withoutPublicAddress: str
    checksCredentials: bool


class ChannelStatus(TypedDict):
    success: bool
    connectedChannels: dict[str, Socket]
    timestamp: str


class ChosenDeadLetters(TypedDict):
    items: list[DeadLetterName]


class ChunkList(TypedDict):
    chunks: list[Chunk]
    pagination: Pagination


class ConfigFaults(TypedDict):
    faults: list[FieldFault]


class Conversation(TypedDict):
    instanceId: int
    channelId: str
    channelName: str
    sessionId: str
    sender: ConversationSender
    lastText: str
    lastAt: str
    messages: int
    waiting: bool
    handler: Literal["resource", "person"]
    handlerUntil: str | None
    handledBy: str | None
    pendingConfirmation: bool
    assignee: str | None
    labels: list[str]
    state: ConversationState
    snoozedUntil: str | None
    wantsPerson: bool


class ConversationList(TypedDict):
    conversations: list[Conversation]
    next: str | None


class ConversationMessage(TypedDict):
    id: str
    sessionId: str
    direction: Literal["in", "out", "note"]
    text: str
    files: list[MessageFile]
    author: Literal["sender", "resource", "person", "system"]
    status: Literal["waiting", "done", "failed", "queued", "sent", "delivered", "read", "dead"]
    error: str | None
    requestId: str
    at: str
    senderName: str
    resource: NotRequired[str | None]
    route: NotRequired[str | None]
    userId: NotRequired[str | None]
    mentions: NotRequired[list[str]]


class CreateTeam(TypedDict):
    name: str
    members: NotRequired[list[MemberToSave]]


class DeadLetter(TypedDict):
    instance: InstanceName
    message: ConversationMessage


class DeadLetterAnswer(TypedDict):
    deadLetter: DeadLetter
    parts: list[DeadPart]


class DeadLetterList(TypedDict):
    deadLetters: list[DeadLetter]
    next: str | None


class DeliveryList(TypedDict):
    deliveries: list[DeliveryRecord]
    pagination: Pagination


class ExplanationAnswer(TypedDict):
    words: list[QueryWord]
    results: list[ExplainedHit]
    byMeaning: bool


class FeedbackRecord(TypedDict):
    id: int
    instanceId: int
    channelName: str
    sessionId: str
    messageId: str
    rating: Literal["up", "down"]
    sender: Voter
    at: str
    question: str
    answer: str
    resource: str | None
    route: str | None
    citations: list[CitedPassage]


class FigurePoint(TypedDict):
    at: str
    counts: AdaptersInboundRestMonitoringCounts


class FigureReport(TypedDict):
    period: Literal["hour", "day"]
    stepSeconds: int
    until: str
    total: AdaptersInboundRestMonitoringCounts
    points: list[FigurePoint]


class FileAnswer(TypedDict):
    file: FileRecord


class FileList(TypedDict):
    files: list[ListedFileRecord]


class FileTextAnswer(TypedDict):
    file: FileState
    text: str
    start: int
    length: int
    chunks: list[ChunkPlace]
    pagination: Pagination


class HealthList(TypedDict):
    instances: list[InstanceState]
    next: str | None


class Invitation(TypedDict):
    id: int
    email: str
    role: Role
    teams: list[int]
    createdBy: str
    createdAt: str
    expiresAt: str
    acceptedAt: str | None
    userId: str | None


class InvitationList(TypedDict):
    invitations: list[Invitation]
    next: int | None


class KeyRecord(TypedDict):
    id: int
    userId: str
    role: Role
    scopes: list[Scope] | None
    createdBy: str | None
    kind: Literal["key", "session"]
    name: str
    prefix: str
    live: bool
    createdAt: str
    expiresAt: str | None
    revokedAt: str | None
    parentId: int | None
    device: str
    address: str
    usedAt: str | None


class KnowledgeBaseList(TypedDict):
    knowledgeBases: list[ListedKnowledgeBase]


class MeAnswer(TypedDict):
    id: str
    name: str
    email: str
    role: Role
    state: UserState
    createdAt: str
    lastSeenAt: str | None
    scopes: list[Scope] | None
    teams: list[Team]


class MessageList(TypedDict):
    messages: list[ConversationMessage]
    next: str | None


class MessageTimeline(TypedDict):
    messageId: str
    steps: list[TimelineStep]


class Notification(TypedDict):
    id: int
    kind: NotificationKind
    text: str
    url: str
    instanceId: int | None
    instanceName: str | None
    sessionId: str | None
    messageId: str | None
    confirmationId: int | None
    budgetId: int | None
    actor: str | None
    data: dict[str, Any]
    createdAt: str
    readAt: str | None


class NotificationList(TypedDict):
    notifications: list[Notification]
    next: int | None


class Person(TypedDict):
    id: int
    owner: str
    name: str
    language: str | None
    labels: list[str]
    identities: list[PersonIdentity]
    userIds: list[str]
    conversations: list[PersonConversation]
    conversationCount: int
    firstAt: str
    lastAt: str


class PersonList(TypedDict):
    people: list[Person]
    next: str | None


class PushList(TypedDict):
    deliveries: list[PushRecord]
    next: int | None


class ReportRow(TypedDict):
    day: str | None
    instanceId: int | None
    channelName: str | None
    userId: str | None
    teamId: int | None
    teamName: str | None
    messages: int
    people: int
    answeredByAgent: int
    answeredByPerson: int
    timeToFirstAnswer: ReportTimes
    handovers: int
    timeToPerson: ReportTimes
    closed: int
    timeToClose: ReportTimes
    failed: int
    feedbackUp: int
    feedbackDown: int


class RouteCondition(TypedDict):
    language: NotRequired[list[str]]
    matches: NotRequired[list[str]]
    hours: NotRequired[RouteHours | None]
    verified: NotRequired[bool | None]
    group: NotRequired[bool | list[str] | None]
    label: NotRequired[list[str]]
    share: NotRequired[float | None]


class RouteConditionToSave(TypedDict):
    language: NotRequired[str | list[str]]
    matches: NotRequired[str | list[str]]
    hours: NotRequired[RouteHoursToSave | None]
    verified: NotRequired[bool | None]
    group: NotRequired[bool | str | list[str] | None]
    label: NotRequired[str | list[str]]
    share: NotRequired[float | None]


class RouteToSave(TypedDict):
    when: RouteConditionToSave
    to: str


class SearchAnswer(TypedDict):
    results: list[SearchResult]


class SendMessage(TypedDict):
    sessionId: NotRequired[str | None]
    to: NotRequired[str | None]
    subject: NotRequired[str | None]
    text: NotRequired[str]
    files: NotRequired[list[FileToSend]]
    choices: NotRequired[list[ChoiceToSend]]
    template: NotRequired[TemplateToSend | None]
    takeOver: NotRequired[bool | None]
    snippetId: NotRequired[int | None]


class SettingsAnswer(TypedDict):
    kinds: dict[NotificationKind, list[Way]]
    mail: MailPace
    notifyVia: Via | None
    language: str
    hours: RouteHours | None


class SettingsToSave(TypedDict):
    kinds: NotRequired[dict[NotificationKind, list[Way]]]
    mail: NotRequired[MailPace]
    notifyVia: NotRequired[ViaToSave | None]
    language: NotRequired[str]
    hours: NotRequired[RouteHoursToSave | None]


class TrialAnswer(TypedDict):
    text: str
    files: list[str]
    choices: list[str]
    tool: str
    wantsPerson: bool
    error: str
    seconds: float
    usage: Usage | None


class UnansweredList(TypedDict):
    unanswered: list[UnansweredRecord]
    pagination: Pagination


class UpdateInstance(TypedDict):
    routes: NotRequired[list[RouteToSave] | None]
    fallback: NotRequired[list[str] | None]
    feedback: NotRequired[bool | None]
    approvalPolicy: NotRequired[list[ApprovalRule] | None]
    config: dict[str, Any]
    downStreamResourceId: NotRequired[str | None]
    channelName: NotRequired[str | None]


class UploadAnswer(TypedDict):
    message: str
    files: list[UploadedFile]
    fileId: NotRequired[str | None]
    fileHash: NotRequired[str | None]
    fileName: NotRequired[str | None]
    fileSize: NotRequired[int | None]
    mimeType: NotRequired[str | None]


class UsageList(TypedDict):
    usage: list[UsageRecord]
    next: str | None


class User(TypedDict):
    id: str
    name: str
    email: str
    role: Role
    state: UserState
    createdAt: str
    lastSeenAt: str | None


class UserList(TypedDict):
    users: list[User]
    next: str | None


class VerifiedIdentities(TypedDict):
    success: bool
    identities: list[VerifiedIdentity]


class AgentTest(TypedDict):
    answer: TrialAnswer
    exchanges: list[AgentExchange]
    cost: float | None


class CreateInstance(TypedDict):
    routes: NotRequired[list[RouteToSave] | None]
    fallback: NotRequired[list[str] | None]
    feedback: NotRequired[bool | None]
    approvalPolicy: NotRequired[list[ApprovalRule] | None]
    channelId: str
    channelName: str
    config: dict[str, Any]
    downStreamResourceId: NotRequired[str | None]
    id: NotRequired[int | None]


class CreatedAnswer(TypedDict):
    invitation: Invitation
    link: str | None


class CreatedKeyAnswer(TypedDict):
    success: bool
    key: KeyRecord
    token: str


class FeedbackList(TypedDict):
    feedback: list[FeedbackRecord]
    next: str | None


class KeyList(TypedDict):
    keys: list[KeyRecord]
    next: int | None


class ReportList(TypedDict):
    reports: list[ReportRow]
    next: str | None


class ResourceTrial(TypedDict):
    resource: str
    source: Literal["rule", "agent", "built-in", "default", "nothing"]
    kind: str
    rule: ResourceRule | None
    answer: TrialAnswer | None


class Route(TypedDict):
    when: RouteCondition
    to: str


class ChannelInstance(TypedDict):
    id: int
    channelId: str
    channelName: str
    downStreamResourceId: str | None
    config: dict[str, Any]
    userId: str
    status: Literal["active"]
    channelType: str
    channelTypeName: str
    trusted: bool
    permissionLevel: NotRequired[int | None]
    publicId: NotRequired[str | None]
    embedTag: NotRequired[str | None]
    routes: NotRequired[list[Route]]
    fallback: NotRequired[list[str]]
    feedback: NotRequired[bool]
    approvalPolicy: NotRequired[list[ApprovalRule]]
