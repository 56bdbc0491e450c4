/** The metrics of flows. */
import type { Metrics } from '../../foundation/metrics.ts'
import { noteCount } from '../../foundation/storage/tx-context.ts'
import type { Tx } from '../../foundation/storage/database.ts'
import type { Machine, Row, State } from '../../definitions/machine.ts'
import type { Protocol } from './protocol.ts'

/** How a flow ended, by the exit code of a state. */
const outcomes = { 0: 'completed', 5: 'stopped', 8: 'not_verified' } as const

/**
 * Counts a transition with its transaction, and the end of the flow if the transition leads to the first
 * state that ends it.
 */
export function countTransition(tx: Tx, { name: protocol, states }: Machine, [role, from, , to]: Row): void {
  noteCount(tx, 'agent_flow_transitions_total', { protocol, role, state: to })
  const [before, after] = [endOf(states, from), endOf(states, to)]
  if (after !== undefined && before === undefined)
    noteCount(tx, 'agent_flows_ended_total', { protocol, role, outcome: outcomes[after] })
}

/**
 * Begins the series of all transitions with 0, since `increase` does not see the increment that begins a
 * series.
 */
export function beginFlowMetrics(metrics: Metrics, protocols: readonly Protocol[]): void {
  for (const { name: protocol, gauge, states, rows } of protocols) {
    if (gauge) metrics.set(gauge, 0)
    for (const [role, , , state] of rows) {
      metrics.add('agent_flow_transitions_total', { protocol, role, state }, 0)
      const end = endOf(states, state)
      if (end !== undefined)
        metrics.add('agent_flows_ended_total', { protocol, role, outcome: outcomes[end] }, 0)
    }
  }
}

function endOf(states: Readonly<Record<string, State>>, state: string | null): State['ends'] {
  return state === null ? undefined : states[state]?.ends
}
