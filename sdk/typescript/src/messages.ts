/** Messages that an agent gets, and how they are read from the JSON of a request, which anybody may have made. */

import { Buffer } from "node:buffer";

const MAX_DEPTH = 64;
const MAX_FILE_BYTES = 100_000_000;
const FILE_MILLISECONDS = 60_000;

/** A request that is no message of Switchboard; the text names the field. */
export class BadMessage extends Error {
  override name = "BadMessage";
}

/** A file that the sender attached. Its address is signed and expires: read it while you answer. */
export class MessageFile {
  constructor(
    readonly name: string,
    readonly mimeType: string,
    readonly size: number | null,
    readonly url: string,
  ) {}

  /** The bytes of the file. Throws `RangeError` for a larger file. */
  async read(maxBytes = MAX_FILE_BYTES): Promise<Uint8Array> {
    const answer = await fetch(this.url, { signal: AbortSignal.timeout(FILE_MILLISECONDS) });
    if (!answer.ok || answer.body === null) {
      await answer.body?.cancel();
      throw new Error(`the file ${this.name} could not be read: status ${answer.status}`);
    }
    const pieces: Uint8Array[] = [];
    let size = 0;
    for await (const piece of answer.body) {
      size += piece.byteLength;
      if (size > maxBytes) throw new RangeError(`the file ${this.name} has over ${maxBytes} bytes`);
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }
}

/** The `downStreamResourceId` of the instance: which agent was asked. Workflows and functions have no index. */
export interface Resource {
  kind: string;
  id: string;
  expertIndex: number | null;
}

/** `userId` is set where the sender is verified; `verifiedBy` says by whom: `platform`, `owner` or `service`. */
export interface Sender {
  externalId: string;
  displayName: string | null;
  userId: string | null;
  verifiedBy: string | null;
}

/** The message that the sender replied to. */
export interface Quoted {
  text: string;
  author: string | null;
  files: MessageFile[];
}

/** A message of the thread before the bot was called into it. `at`: ISO 8601, in UTC. */
export interface EarlierMessage {
  text: string;
  author: string | null;
  at: string;
}

/** What a person decided on a tool: `approved`, `approved_for_session` or `rejected`. */
export interface Approval {
  confirmationId: string;
  tool: string;
  decision: string;
}

/** What the sender filled in. `name` is that of the form, empty where it has none. */
export interface FormValues {
  name: string;
  values: Record<string, unknown>;
}

/** What a request says. */
export interface MessageFields {
  text: string;
  sessionId: string;
  requestId: string;
  instanceId: number;
  channelId: string;
  resource: Resource;
  sender: Sender;
  files: MessageFile[];
  quoted: Quoted | null;
  thread: EarlierMessage[];
  approval: Approval | null;
  approvedTools: string[];
  /** The sender picked `text` from the choices. */
  choice: boolean;
  /** An emoji that the sender reacted with; `text` is empty then. */
  reaction: string | null;
  form: FormValues | null;
  /** What the platform says besides. */
  context: Record<string, unknown>;
  /** The whole request, with fields that this version of the SDK does not know. */
  raw: Record<string, unknown>;
}

/** A message to an agent, or a person's decision on a tool. */
export interface Message extends Readonly<MessageFields> {}

export class Message {
  /** Aborted when the time for the answer is over. */
  readonly signal: AbortSignal;

  constructor(fields: MessageFields, signal: AbortSignal) {
    Object.assign(this, fields);
    this.signal = signal;
  }

  /** Return true if a person approved this use of the tool, or all of its uses in this session. */
  allows(tool: string): boolean {
    const decision = this.decision(tool);
    return decision === "approved" || decision === "approved_for_session" || this.approvedTools.includes(tool);
  }

  /** Return true if a person decided that the tool must not be used. */
  rejects(tool: string): boolean {
    return this.decision(tool) === "rejected";
  }

  private decision(tool: string): string | undefined {
    return this.approval?.tool === tool ? this.approval.decision : undefined;
  }
}

/** The fields of the message in the body of a request. Throws `BadMessage`; unknown fields are left in `raw`. */
export function readMessage(body: Uint8Array): MessageFields {
  const request = new Reader(parsed(body), "");
  const quoted = request.object("quoted");
  const approval = request.object("approval");
  const form = request.object("form");
  const resource = request.required("resource");
  const sender = request.required("sender");
  return {
    text: request.text("text"),
    sessionId: request.text("sessionId"),
    requestId: request.text("requestId"),
    instanceId: request.number("instanceId") ?? 0,
    channelId: request.text("channelId"),
    resource: { kind: resource.text("kind"), id: resource.text("id"), expertIndex: resource.number("expertIndex") },
    sender: {
      externalId: sender.text("externalId"),
      displayName: sender.optional("displayName"),
      userId: sender.optional("userId"),
      verifiedBy: sender.optional("verifiedBy"),
    },
    files: files(request),
    quoted: quoted && { text: quoted.text("text"), author: quoted.optional("author"), files: files(quoted) },
    thread: request.objects("thread").map(earlier),
    approval: approval && approvalOf(approval),
    approvedTools: request.texts("approvedTools"),
    choice: request.flag("choice"),
    reaction: request.optional("reaction"),
    form: form && { name: form.optional("name") ?? "", values: form.object("values")?.value ?? {} },
    context: request.object("context")?.value ?? {},
    raw: request.value,
  };
}

function files(owner: Reader): MessageFile[] {
  return owner
    .objects("files")
    .map((file) => new MessageFile(file.text("name"), file.text("mimeType"), file.number("size"), file.text("url")));
}

function earlier(message: Reader): EarlierMessage {
  return { text: message.text("text"), author: message.optional("author"), at: message.text("at") };
}

function approvalOf(approval: Reader): Approval {
  const decision = approval.text("decision");
  return { confirmationId: approval.text("confirmationId"), tool: approval.text("tool"), decision };
}

function parsed(body: Uint8Array): unknown {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(body));
  } catch {
    throw new BadMessage("the request is not JSON");
  }
  let level = [value];
  for (let depth = 0; depth < MAX_DEPTH; depth++) {
    level = level.flatMap((item) => (typeof item === "object" && item !== null ? Object.values(item) : []));
    if (!level.length) return value;
  }
  throw new BadMessage(`the request is nested over ${MAX_DEPTH} levels deep`);
}

/** A JSON object and where it stands in the request. */
class Reader {
  readonly value: Record<string, unknown>;

  constructor(
    value: unknown,
    private readonly at: string,
  ) {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new BadMessage(`${at || "the request"} is not an object`);
    }
    this.value = value as Record<string, unknown>;
  }

  text(name: string): string {
    return this.optional(name) ?? this.refuse(name, "a string");
  }

  optional(name: string): string | null {
    const text = this.member(name);
    return text === null || typeof text === "string" ? text : this.refuse(name, "a string");
  }

  number(name: string): number | null {
    const number = this.member(name);
    if (number === null || Number.isSafeInteger(number)) return number as number | null;
    return this.refuse(name, "a whole number");
  }

  flag(name: string): boolean {
    const flag = this.member(name) ?? false;
    return typeof flag === "boolean" ? flag : this.refuse(name, "true or false");
  }

  texts(name: string): string[] {
    const items = this.array(name);
    return items.every((item) => typeof item === "string")
      ? (items as string[])
      : this.refuse(name, "an array of strings");
  }

  objects(name: string): Reader[] {
    return this.array(name).map((item, at) => new Reader(item, this.path(`${name}[${at}]`)));
  }

  object(name: string): Reader | null {
    return this.member(name) === null ? null : this.required(name);
  }

  required(name: string): Reader {
    return new Reader(this.member(name), this.path(name));
  }

  private array(name: string): unknown[] {
    const items = this.member(name) ?? [];
    return Array.isArray(items) ? items : this.refuse(name, "an array");
  }

  private member(name: string): unknown {
    return Object.hasOwn(this.value, name) ? (this.value[name] ?? null) : null;
  }

  private path(name: string): string {
    return this.at ? `${this.at}.${name}` : name;
  }

  private refuse(name: string, wanted: string): never {
    throw new BadMessage(`${this.path(name)} is not ${wanted}`);
  }
}
