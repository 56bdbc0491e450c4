/** The reasons why a request to another server failed. */

export type UnreachableCode =
  | 'address-not-allowed'
  | 'bad-status'
  | 'bad-url'
  | 'host-denied'
  | 'no-such-host'
  | 'not-json'
  | 'not-text'
  | 'port-not-allowed'
  | 'redirect'
  | 'refused'
  | 'timeout'
  | 'too-large'

/** `code` is for programs, the message for people. Neither contains text of the other side. */
export class UnreachableError extends Error {
  override name = 'UnreachableError'
  readonly code: UnreachableCode

  constructor(code: UnreachableCode, message: string, options?: ErrorOptions) {
    super(message, options)
    this.code = code
  }
}
