/** Writes agents for Switchboard, and calls its REST interface. */

export { Agent, type AgentOptions, TryLater } from "./agent.js";
export type {
  Answer,
  Button,
  Card,
  Choice,
  Confirmation,
  Contact,
  Field,
  File,
  Form,
  Location,
  Part,
  Usage,
} from "./answers.js";
export { Client, type ClientOptions } from "./client.js";
export { ConnectionFailed, SwitchboardError } from "./errors.js";
export type { Event, EventKind } from "./events.js";
export type {
  Approval,
  EarlierMessage,
  FormValues,
  Message,
  MessageFile,
  Quoted,
  Resource,
  Sender,
} from "./messages.js";
export type { MethodOf, OptionsOf, Path, ResultOf, Schemas } from "./operations.js";
export type { Handler } from "./runs.js";
export { AgentTest, type Reply } from "./testing.js";
export { BadSignature, verifyPush } from "./webhooks.js";
