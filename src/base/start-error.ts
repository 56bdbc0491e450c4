/** Why a daemon does not start. */

/** One sentence for the person who started it, and the exit code of the process. */
export class StartError extends Error {
  override name = 'StartError'
  /** 1 in general, 2 wrong configuration, 4 wrong key, 5 the folder or the port is taken. */
  readonly exitCode: 1 | 2 | 4 | 5

  constructor(message: string, exitCode: 1 | 2 | 4 | 5, options?: ErrorOptions) {
    super(message, options)
    this.exitCode = exitCode
  }
}
