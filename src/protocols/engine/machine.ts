/**
 * A protocol's state machine is a table, and the table is the program.
 *
 * Each row reads like a row of service §3: who, from where, on what, to where, and, in a fifth column, what
 * the agent owes next: to `send` a message or to `make` something. A debt is written to the outbox with the
 * change itself; paying it reports `sent` or `made`, which is how the rows that the service document calls
 * automatic come about. Nothing else decides what comes next.
 */

export type Row = readonly [
  role: string,
  from: string | null,
  on: string,
  to: string,
  then?: `send ${string}` | `make ${string}`,
]

export type Machine<Rows extends readonly Row[] = readonly Row[]> = {
  /** The type of the event that every row emits (service §6.2). */
  readonly event: string
  /** The rows of the service document, in its order, and after them ours. */
  readonly rows: Rows
  /** How many of the rows, counted from the end, the service document does not have. */
  readonly ours: number
}

export type StateOf<M extends Machine> = M['rows'][number][3]
export type RoleOf<M extends Machine> = M['rows'][number][0]
export type TriggerOf<M extends Machine> = M['rows'][number][2]

/** The name of the message that `on` sends, or `never` when it sends none. */
export type SendsOf<M extends Machine, T> = Sent<
  Extract<M['rows'][number], readonly [string, string | null, T, string, string]>[4]
>
type Sent<Then> = Then extends `send ${infer Name}` ? Name : never

/** Makes a table of the service document's rows and of ours, which it leaves open. */
export function machine<const Rows extends readonly Row[], const Ours extends readonly Row[] = []>(
  event: string,
  rows: Rows,
  ours?: Ours,
): Machine<readonly [...Rows, ...Ours]> {
  return { event, rows: [...rows, ...(ours ?? ([] as unknown as Ours))], ours: ours?.length ?? 0 }
}

/** The row that `on` selects for a record of a role in state `from`, or `undefined` when there is none. */
export function findRow(machine: Machine, role: string, from: string | null, on: string): Row | undefined {
  return machine.rows.find((row) => row[0] === role && row[1] === from && row[2] === on)
}

/** The states from which `on` leads on. */
export function statesBefore(machine: Machine, role: string, on: string): string[] {
  return machine.rows.flatMap((row) => (row[0] === role && row[2] === on && row[1] !== null ? [row[1]] : []))
}

/** The row by which a flow that has waited for too long ends; `undefined` for one that has ended, or that others bring to an end. */
export function findExpiry(machine: Machine, role: string, state: string): Row | undefined {
  return findRow(machine, role, state, 'flow expired') ?? findRow(machine, role, state, 'expired')
}

/** How a flow breaks off, which it does in many states: from the end nobody can tell which steps were made before. */
const breakOffs = ['flow expired', 'received problem-report', 'refused request', 'refused credential']

/** True when a record in `state` has been through `on` already: `state` is where that row leads, or comes after it. */
export function isPast<M extends Machine>(
  machine: M,
  role: string,
  on: TriggerOf<M>,
  state: string,
): boolean {
  const reached = new Set(machine.rows.filter((row) => row[0] === role && row[2] === on).map((row) => row[3]))
  for (const known of reached) {
    for (const row of machine.rows)
      if (row[0] === role && row[1] === known && !breakOffs.includes(row[2])) reached.add(row[3])
  }
  return reached.has(state)
}
