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

export type ExitCode = keyof typeof exitCodes

/** By exit code: its name, what happened, why, and what to do. */
// prettier-ignore
export const exitCodes = {
  0:   ['done', 'The command did what it was told.', 'Nothing stood in its way.', 'Nothing.'],
  1:   ['failed', 'The command failed, for a reason that none of the others is.', 'The daemon, or somebody it depends on, could not do it, or you said no when you were asked.', 'Read the sentence on standard error; `agent doctor` examines the rest.'],
  2:   ['wrong usage', 'What was typed, or a variable of the environment, is not right.', 'A flag or an argument is missing, unknown, or not what it must be; or the daemon does not accept the input.', 'Read the sentence on standard error, or run the command with --help.'],
  3:   ['not found', 'What was named is not there.', 'An id, a DID or a file is another daemon’s, another tenant’s, mistyped, or was removed.', 'List what there is, such as `agent connection list`, and see which profile is in use: `agent profile list`.'],
  4:   ['not let in', 'The daemon does not accept the key, or there is none.', 'The key is missing, of another daemon, or was taken back.', 'Name a profile that has the key (--profile), or give it by --api-key-file or AGENT_API_KEY.'],
  5:   ['wrong state, or taken', 'It cannot be done in the state that things are in.', 'A record is further on than that, or has ended; or a name, a port or a folder is taken.', 'Show the record, such as `agent credential show <id>`: it says what comes next.'],
  6:   ['waited too long', 'The time is over, and what was waited for has not come.', 'The other side, the ledger or the daemon takes longer than --timeout allows.', 'Look again later, or wait longer: --timeout 30m.'],
  7:   ['no daemon', 'No daemon answers at the address.', 'It does not run, or it runs elsewhere.', '`agent daemon start`, or name the profile of one that runs: --profile.'],
  8:   ['verification failed', 'A credential, a presentation or an answer does not hold.', 'It was changed, has expired, is revoked, or was not signed by whom it names.', 'Do not rely on it; the record says what did not hold.'],
  130: ['interrupted', 'You have interrupted the command (Ctrl-C).', 'That is what you wanted.', 'Nothing: what the daemon had begun by then goes on, and at a question nothing had begun.'],
} as const satisfies Record<number, readonly [name: string, what: string, why: string, remedy: string]>
