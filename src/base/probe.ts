/**
 * Named points before and after everything that crosses a border of the process: a commit, and what is sent or fetched.
 *
 * Nothing happens there, unless code that runs in the same process has put a function at `globalThis[Symbol.for('identity-agent.probe')]`,
 * as tests of crashes and faults do. That function may wait, may throw, and may end the process.
 */

/**
 * What crosses a border: a wallet's commit, a message to another agent, an event to a webhook, a schema from wherever it is published;
 * a definition of credentials, whose private key is kept already;
 * the audit log's commit; of a rotation of the master key the file of the next key, the row that the key opens, and the name of the file; of
 * a backup, or of its restoration, the files, the list of them, and the name of the folder; of an export the copy of the wallet's file; of an
 * import the file that came, the rows that make it known, and its place among the wallets; of a wallet that is made its file.
 */
export type Crossing =
  | 'commit'
  | 'audit'
  | 'message'
  | 'webhook'
  | 'schema'
  | 'definition'
  | 'next-key'
  | 'key-row'
  | 'key-name'
  | 'backup-files'
  | 'backup-list'
  | 'backup-name'
  | 'wallet-copy'
  | 'import-file'
  | 'import-rows'
  | 'import-place'
  | 'wallet-file'

/** A fault `before` leaves the thing undone; one `after` leaves it done, but whoever asked for it sees an error. */
export type Point = `${Crossing}:${'before' | 'after'}`

/** Is told which point was reached, and where. */
export type Probe = (point: Point, detail?: Readonly<Record<string, unknown>>) => unknown

const place = Symbol.for('identity-agent.probe')

/** Reaches a point. @throws whatever the function of the tests throws. */
export async function probe(point: Point, detail?: Readonly<Record<string, unknown>>): Promise<void> {
  await (globalThis as { [place]?: Probe })[place]?.(point, detail)
}

/** Does some work between its two points. @throws what the work throws, or the function of the tests. */
export async function across<T>(
  crossing: Crossing,
  detail: Readonly<Record<string, unknown>>,
  work: () => Promise<T>,
): Promise<T> {
  if (!(place in globalThis)) return work()
  await probe(`${crossing}:before`, detail)
  const result = await work()
  await probe(`${crossing}:after`, detail)
  return result
}
