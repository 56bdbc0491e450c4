/**
 * The definition of a protocol: its states, and the table of its transitions. Pure data and pure functions,
 * which the command line imports as well.
 *
 * A row names role, state, trigger and next state. Its fifth column is the job that the transition adds: a
 * message to `send` or a task to `make`. The worker reports a processed job as the trigger `sent` or `made`.
 * Triggers of messages begin with `received`, `verified` or `refused`; `flow expired` and `expired` are the
 * clock's. `failed` is a task that can never succeed. All others are decisions, named after the request.
 * `record.ts` executes the table.
 */

export type Row = readonly [
  role: string,
  from: string | null,
  on: string,
  to: string,
  then?: `send ${string}` | `make ${string}`,
]

/** A state in words. */
export type State = {
  words: string
  /** The next command of a person, with `{id}` for the id of the record. */
  next?: string
  /** The command for a new invitation, offer or request, when nobody has answered in time. */
  renew?: string
  /** Commands that expect a record in this state, without `agent`. Completion suggests such records. */
  commands?: readonly string[]
  /**
   * The flow is over. The exit code of a command that waits for another state: 0 after success, 8 after a
   * failed verification.
   */
  ends?: 0 | 5 | 8
  /** What has come is good, also while it waits for a decision. */
  isGood?: true
  /** The flow is over because nobody answered in time. */
  isExpired?: true
}

export type Machine<Rows extends readonly Row[] = readonly Row[]> = Names & {
  readonly states: Readonly<Record<string, State>>
  readonly roles: readonly Rows[number][0][]
  /** The transitions of the Cloud Agent, followed by `extensions` transitions that it does not have. */
  readonly rows: Rows
  readonly extensions: number
}

type Names = {
  /** The name in records, jobs and logs. */
  readonly name: string
  /** The name on the command line and in traces. */
  readonly topic: string
  /** The type of the event that every transition emits. */
  readonly event: string
  /**
   * The REST resource: the route that returns one, and the members with the record's id and state. The path
   * parameter is called like `id`.
   */
  readonly resource: { readonly route: string; readonly id: string; readonly state: string }
}

export type StateOf<M extends Machine> = M['rows'][number][3]
export type RoleOf<M extends Machine> = M['rows'][number][0]
export type TriggerOf<M extends Machine> = M['rows'][number][2]

/** The name of the message that a trigger sends, or `never` if it sends none. */
export type SendsOf<M extends Machine, T> = Sent<
  Extract<M['rows'][number], readonly [string, string | null, T, string, string]>[4]
>
type Sent<Then> = Then extends `send ${infer Name}` ? Name : never

/**
 * Defines a protocol by its names, the words for each state, the Cloud Agent's transitions and the
 * extensions.
 */
export function defineMachine<
  const N extends Names,
  const Rows extends readonly Row[],
  const Extensions extends readonly Row[],
>(
  names: N,
  states: Readonly<Record<Rows[number][3] | Extensions[number][3], State>>,
  rows: Rows,
  extensions: Extensions,
): N & Machine<readonly [...Rows, ...Extensions]> {
  const all = [...rows, ...extensions] as const
  const roles = [...new Set(all.map(([role]) => role))]
  return { ...names, states, roles, rows: all, extensions: extensions.length }
}

/** The row that a trigger selects for a record of a role in state `from`. */
export function findRow({ rows }: Machine, role: string, from: string | null, on: string): Row | undefined {
  for (const row of rows) if (row[0] === role && row[1] === from && row[2] === on) return row
  return undefined
}

/** The states in which a trigger is possible. */
export function statesBefore({ rows }: Machine, role: string, on: string): string[] {
  return rows.flatMap((row) => (row[0] === role && row[2] === on && row[1] !== null ? [row[1]] : []))
}

/** The row that ends an expired flow. Undefined if the flow is over, or only others can end it. */
export function findExpiry(machine: Machine, role: string, state: string): Row | undefined {
  return findRow(machine, role, state, 'flow expired') ?? findRow(machine, role, state, 'expired')
}

/**
 * Triggers that end a flow early, from many states: the state that they lead to does not tell which
 * transitions came before.
 */
const interruptions = [
  'flow expired',
  'expired',
  'received problem-report',
  'received error',
  'refused request',
  'refused credential',
  'refused by the source',
  'failed',
]

/**
 * Whether a record in `state` has passed the trigger: the state is the one that the trigger leads to, or a
 * later one. Only for triggers on every path to the later states: a record that skipped an optional step
 * counts as past it.
 */
export function isPast<M extends Machine>(
  machine: M,
  role: string,
  on: TriggerOf<M>,
  state: string,
): boolean {
  const reached = new Set(machine.rows.filter((row) => row[0] === role && row[2] === on).map((row) => row[3]))
  for (const known of reached) {
    for (const row of machine.rows)
      if (row[0] === role && row[1] === known && !interruptions.includes(row[2])) reached.add(row[3])
  }
  return reached.has(state)
}
