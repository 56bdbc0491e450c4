/**
 * Named points before and after everything that leaves the process: commits, messages and requests.
 *
 * They do nothing unless a test has set a function at `globalThis[Symbol.for('identity-agent.probe')]`. That
 * function may wait, throw, or kill the process.
 */

/**
 * The crossings: commits of a wallet and of the audit log; messages; webhooks; schemas; credential
 * definitions, after their private key is stored; the steps of a master key rotation (`next-key`, `key-row`,
 * `key-name`), of a backup or its restoration (`backup-*`), of an export (`wallet-copy`), of an import
 * (`import-*`), of the creation of a wallet (`wallet-file`), and of the removal of
 * its files (`wallet-deletion`).
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
  | 'import-contents'
  | 'import-rows'
  | 'import-place'
  | 'wallet-file'
  | 'wallet-deletion'

/** A fault `before` leaves the work undone. A fault `after` leaves it done, but the caller gets an error. */
export type Point = `${Crossing}:${'before' | 'after'}`

export type Probe = (point: Point, detail?: Readonly<Record<string, unknown>>) => unknown

const place = Symbol.for('identity-agent.probe')

/** Whether a test has set a function. Without one, nobody waits at a point. */
export const isProbed = () => place in globalThis

/** Reaches a point. @throws the error of the test’s function */
export async function probe(point: Point, detail?: Readonly<Record<string, unknown>>): Promise<void> {
  await (globalThis as { [place]?: Probe })[place]?.(point, detail)
}

/** Runs work between its two points. @throws the error of the work or of the test’s function */
export function across<T>(
  crossing: Crossing,
  detail: Readonly<Record<string, unknown>>,
  work: () => Promise<T>,
): Promise<T> {
  return isProbed() ? cross(crossing, detail, work) : work()
}

async function cross<T>(
  crossing: Crossing,
  detail: Readonly<Record<string, unknown>>,
  work: () => Promise<T>,
): Promise<T> {
  await probe(`${crossing}:before`, detail)
  const result = await work()
  await probe(`${crossing}:after`, detail)
  return result
}
