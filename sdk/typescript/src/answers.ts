/** Answers of an agent, and their JSON. */

import { Buffer } from "node:buffer";

/** A file for the sender: its bytes as `data`, or an address as `url`, which must stay readable. */
export type File = { name: string; mimeType?: string } & (
  { data: Uint8Array; url?: never } | { url: string; data?: never }
);

/** Asks a person whether a tool may be used. The agent is called again with the decision: `message.allows`. */
export interface Confirmation {
  tool: string;
  parameters?: Record<string, unknown>;
}

/** A reply to pick from. `value` comes back as the text of the next message; the label, where it is left out. */
export interface Choice {
  label: string;
  value?: string;
}

/** A link, shown as a button where the platform has those. */
export interface Button {
  label: string;
  url: string;
}

/** `text` is Markdown, `picture` a web address, a field a line such as "Price: 20 EUR". */
export interface Card {
  title: string;
  text?: string;
  picture?: string;
  fields?: { name: string; value: string }[];
  buttons?: Button[];
}

/** A place, in degrees. */
export interface Location {
  latitude: number;
  longitude: number;
  name?: string;
  address?: string;
}

/** A person or company, with at least one phone number or mail address. */
export interface Contact {
  name: string;
  phones?: string[];
  emails?: string[];
}

/** A question of a form. `min` and `max` bound a number, or the characters of a text. */
export interface Field {
  name: string;
  label: string;
  type?: "text" | "multiline" | "number" | "email" | "phone" | "date" | "boolean" | "choice" | "choices";
  required?: boolean;
  options?: Choice[];
  default?: unknown;
  min?: number;
  max?: number;
}

/** Questions to the sender, whose values come back as `message.form`. `submit`: the label of the last button. */
export interface Form {
  title: string;
  fields: Field[];
  name?: string;
  text?: string;
  submit?: string;
}

/** Tokens that models took for the answer. */
export interface Usage {
  inputTokens: number;
  outputTokens: number;
}

/**
 * What an agent answers, or a part of it.
 *
 * `text` is Markdown. `handover`: a person takes the conversation over. `silent`: no answer at all. `assign`:
 * "user:ID", "team:ID", "" for nobody. `labels`, `removeLabels` and `close` change the conversation.
 */
export interface Answer {
  text?: string;
  files?: File[];
  confirmation?: Confirmation;
  choices?: Choice[];
  buttons?: Button[];
  cards?: Card[];
  location?: Location;
  contact?: Contact;
  form?: Form;
  handover?: boolean;
  silent?: boolean;
  assign?: string;
  labels?: string[];
  removeLabels?: string[];
  close?: boolean;
  usage?: Usage;
}

/** What a handler yields or returns. */
export type Part = string | Answer;

const FIELDS: Record<keyof Answer, "text" | "list" | "flag" | "value"> = {
  text: "text",
  files: "list",
  confirmation: "value",
  choices: "list",
  buttons: "list",
  cards: "list",
  location: "value",
  contact: "value",
  form: "value",
  handover: "flag",
  silent: "flag",
  assign: "value",
  labels: "list",
  removeLabels: "list",
  close: "flag",
  usage: "value",
};

/** The part as an answer. Throws `TypeError` for what is none. */
export function answerOf(part: unknown): Answer {
  if (part === undefined || part === null) return {};
  if (typeof part === "string") return { text: part };
  if (typeof part !== "object" || Array.isArray(part)) {
    throw new TypeError(
      `an agent answers with text or an object such as { text, files }, not with ${describe(part)}`,
    );
  }
  for (const [name, value] of Object.entries(part)) checkField(name, value);
  return part;
}

/** Both in one answer: texts and lists are joined, of all else the later value counts. */
export function joined(first: Answer, later: Answer): Answer {
  const answer: Record<string, unknown> = { ...first };
  for (const [name, value] of Object.entries(later)) {
    const kind = FIELDS[name as keyof Answer];
    if (value === undefined || value === null) continue;
    if (kind === "text") answer[name] = (first.text ?? "") + value;
    else if (kind === "list") answer[name] = [...((answer[name] as unknown[] | undefined) ?? []), ...value];
    else answer[name] = value;
  }
  return answer;
}

/** The JSON object that Switchboard reads, without what is empty. */
export function answerJson(answer: Answer): Record<string, unknown> {
  const json: Record<string, unknown> = { text: answer.text ?? "" };
  for (const [name, value] of Object.entries(answer)) {
    const isEmpty =
      value === undefined || value === null || value === false || (Array.isArray(value) && !value.length);
    if (isEmpty || name === "text") continue;
    if (name === "files") json["artifacts"] = (value as File[]).map(fileJson);
    else json[name] = value;
  }
  return json;
}

/** A file as answers and messages have it. */
export function fileJson(file: File): Record<string, unknown> {
  const { data, url, ...described } = file;
  if ((data === undefined) === (url === undefined))
    throw new TypeError(`the file ${file.name} needs either data or url`);
  if (data === undefined) return { ...described, url };
  if (!(data instanceof Uint8Array))
    throw new TypeError(`data of the file ${file.name} must be a Uint8Array or a Buffer`);
  return { ...described, dataBase64: Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64") };
}

function checkField(name: string, value: unknown): void {
  const kind = Object.hasOwn(FIELDS, name) ? FIELDS[name as keyof Answer] : undefined;
  if (kind === undefined)
    throw new TypeError(`an answer has no field ${name}; it has ${Object.keys(FIELDS).join(", ")}`);
  if (value === undefined || value === null) return;
  if (kind === "text" && typeof value !== "string")
    throw new TypeError(`${name} must be a string, not ${describe(value)}`);
  if (kind === "list" && !Array.isArray(value))
    throw new TypeError(`${name} must be an array, not ${describe(value)}`);
}

function describe(value: unknown): string {
  return Array.isArray(value) ? "an array" : typeof value;
}
