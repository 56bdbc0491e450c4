/**
 * The states of a DID request and of an authentication challenge: the tables of service §3.5, from where, on what, to where.
 *
 * One that nobody answers stays `pending` when its link has ended; its `expireAt` says so.
 */
type Row = readonly [from: string | null, on: string, to: string]

export const didRequestStates = [
  [null, 'created', 'pending'],
  ['pending', 'valid', 'success'],
  ['pending', 'invalid', 'error'],
] as const satisfies readonly Row[]

export const challengeStates = [
  [null, 'created', 'pending'],
  ['pending', 'valid', 'success'],
  ['pending', 'invalid', 'error'],
] as const satisfies readonly Row[]

/** Both products have the same states; which of them a table belongs to is its name. */
export const tables = { onboard: didRequestStates, authenticate: challengeStates } as const
export type Product = keyof typeof tables
export type Trigger = (typeof tables)[Product][number][1]
export type State = (typeof tables)[Product][number][2]

/** Where a trigger leads, and from where. */
export function transition(product: Product, on: Trigger): { from: State | null; to: State } {
  const [from, , to] = tables[product].find((row) => row[1] === on)!
  return { from, to }
}
