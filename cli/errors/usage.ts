/** Mistakes in how a command was called. */

/** Says what is wrong with what was typed and, where there is one, the command that mends it. Exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
  readonly hint: string | undefined

  constructor(message: string, hint?: string) {
    super(message)
    this.hint = hint
  }
}

/** A command that cannot go on for a reason that is not in what was typed; `exitCode` as in users.md D4. */
export class CommandError extends Error {
  override name = 'CommandError'
  readonly exitCode: number
  readonly hint: string | undefined

  constructor(message: string, exitCode: number, hint?: string) {
    super(message)
    this.exitCode = exitCode
    this.hint = hint
  }
}
