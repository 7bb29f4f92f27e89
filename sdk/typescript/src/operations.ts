/** What the generated types say of an operation: its methods, its options and its answer. */

import type { components, paths } from "./types.js";

/** The objects of the REST interface: `Schemas["ChannelInstance"]`. */
export type Schemas = components["schemas"];

export type Path = keyof paths;

type Described = { responses: unknown };

/** The methods of a path, in capitals. */
export type MethodOf<P extends Path> = {
  [M in keyof paths[P]]: paths[P][M] extends Described ? Uppercase<M & string> : never;
}[keyof paths[P]] &
  string;

export type Operation<P extends Path, M extends string> = paths[P][Lowercase<M> & keyof paths[P]];

type Parameters<O> = O extends { parameters: infer A } ? A : never;

type Given<A, Name extends string> =
  A extends Record<Name, infer T>
    ? Record<Name, T>
    : A extends Partial<Record<Name, infer T>>
      ? [T] extends [never]
        ? unknown
        : Partial<Record<Name, T>>
      : unknown;

type Body<O> = O extends { requestBody: { content: { "application/json": infer T } } }
  ? { json: T }
  : O extends { requestBody?: { content: { "application/json": infer T } } }
    ? unknown extends T
      ? unknown
      : { json?: T }
    : unknown;

/** The options of a call: those of the operation, and what every call has. */
export type OptionsOf<P extends Path, M extends string> = Given<Parameters<Operation<P, M>>, "path"> &
  Given<Parameters<Operation<P, M>>, "query"> &
  Body<Operation<P, M>> &
  CallOptions;

export interface CallOptions {
  headers?: Record<string, string>;
  form?: FormData;
  /** Seconds for the answer. */
  timeout?: number;
  signal?: AbortSignal;
}

type JsonOf<R> = R extends { content: { "application/json": infer T } }
  ? T
  : R extends { content?: never }
    ? null
    : unknown;

/** The JSON of an answer, null for one without a body. */
export type ResultOf<P extends Path, M extends string> =
  Operation<P, M> extends { responses: infer R }
    ? { [S in keyof R & (200 | 201 | 202 | 204)]: JsonOf<R[S]> }[keyof R & (200 | 201 | 202 | 204)]
    : never;

/** The members of an answer that are lists, and the entries of one. */
export type ListOf<T> = { [K in keyof T]: T[K] extends unknown[] ? K : never }[keyof T] & string;
export type EntryOf<T, K extends keyof T> = T[K] extends (infer E)[] ? E : never;
