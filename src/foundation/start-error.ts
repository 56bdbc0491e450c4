/** Errors of the start of a daemon. */

/** The message is one sentence for the person who started it. */
export class StartError extends Error {
  override name = 'StartError'
  /** 1 in general, 2 for a wrong configuration, 4 for a wrong key, 5 for a folder or port in use. */
  readonly exitCode: 1 | 2 | 4 | 5

  constructor(message: string, exitCode: 1 | 2 | 4 | 5, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}
