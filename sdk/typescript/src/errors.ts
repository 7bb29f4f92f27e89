/** Errors of calls to Switchboard. */

/**
 * Switchboard refused a call.
 *
 * `status` is the HTTP status, `message` what is wrong and how to mend it, `field` the field that is at fault, where
 * the message begins with one; `retryAfter`: seconds after which the call may work.
 */
export class SwitchboardError extends Error {
  override name = "SwitchboardError";
  readonly field: string | undefined;

  constructor(
    readonly status: number,
    message: string,
    readonly retryAfter?: number,
  ) {
    super(message);
    this.field = /^([A-Za-z_][\w.[\]-]*): /.exec(message)?.[1];
  }
}

/** Switchboard could not be reached, or the connection broke before its answer was complete; `cause` tells more. */
export class ConnectionFailed extends Error {
  override name = "ConnectionFailed";
}
