/** The errors that end a command, and the table of exit codes. */

/** A mistake in the command line. `hint` is a command that helps. Exit code 2. */
export class UsageError extends Error {
  override name = 'UsageError'
  readonly hint: string | undefined

  constructor(message: string, hint?: string) {
    super(message)
    this.hint = hint
  }
}

/** A failure that is not a mistake in the command line, with its exit code and a command that helps. */
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

/** By exit code: its name, what happened, why, and what to do. */
// prettier-ignore
export const exitCodes = {
  0:   ['done', 'The command has succeeded.', 'There was no error.', 'Nothing.'],
  1:   ['failed', 'The command has failed for a reason without an exit code of its own.', 'The daemon or a service that it depends on has failed, or you declined a confirmation.', 'Read the message on standard error; `agent doctor` checks the daemon.'],
  2:   ['wrong usage', 'The command line, or an environment variable, is not valid.', 'A flag or an argument is missing, unknown or malformed, or the daemon has rejected the input.', 'Read the message on standard error, or run the command with --help.'],
  3:   ['not found', 'The named resource does not exist.', 'An id, a DID or a file is mistyped, was removed, or belongs to another daemon or tenant.', 'List the resources, such as with `agent connection list`, and check the selected profile: `agent profile list`.'],
  4:   ['access denied', 'The daemon does not accept the key, or the key is missing.', 'The key is missing, belongs to another daemon, or was revoked.', 'Name a profile that has the key (--profile), or pass the key with --api-key-file or AGENT_API_KEY.'],
  5:   ['conflict', 'The current state does not allow this.', 'A record is in another state or has ended; or a name, a port or a folder is in use.', 'Show the record, such as with `agent credential show <id>`, to see the next step.'],
  6:   ['timed out', 'Timed out.', 'The other side, the ledger or the daemon has taken longer than --timeout allows.', 'Check again later, or wait longer: --timeout 30m.'],
  7:   ['no daemon', 'No daemon answers at the address.', 'It does not run, or it runs at another address.', 'Run `agent daemon start`, or name the profile of a running daemon with --profile.'],
  8:   ['verification failed', 'The verification of a credential, a presentation or an answer has failed.', 'It was altered, has expired, was revoked, or has no valid signature of its issuer or holder.', 'Do not rely on it; the record has the failed check.'],
  130: ['interrupted', 'You have interrupted the command (Ctrl-C).', 'You have pressed Ctrl-C.', 'Nothing: the daemon continues started work; at a prompt no work has started.'],
} as const satisfies Record<number, readonly [name: string, what: string, why: string, remedy: string]>

/** Returns the message of the {UsageError} that `read` throws; undefined if it throws none. */
export function faultOf(read: () => unknown): string | undefined {
  try {
    read()
    return undefined
  } catch (error) {
    if (error instanceof UsageError) return error.message
    throw error
  }
}
