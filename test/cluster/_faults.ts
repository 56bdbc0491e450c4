/** Faults of nodes and of their database, each of which ends by itself. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Postgres } from '../support/postgres.ts'
import type { Nodes } from './_nodes.ts'
import type { Replicated } from './_standby.ts'

/** A fault of the node with an index, or of the database. */
export type Fault = (nodes: Nodes, index: number) => Promise<void>

const hourMs = 3_600_000

/** Sets the clock of a node for ten seconds. */
const jump =
  (differenceMs: number): Fault =>
  async ({ clocks }, index) => {
    clocks[index]!.set(differenceMs)
    await sleep(10_000)
    clocks[index]!.set(0)
  }

export const faults = {
  async kill({ daemons }, index) {
    await daemons[index]!.stop('SIGKILL')
    // Longer than a lease, or shorter: the others take over before the node is back.
    await sleep(3_000)
    await daemons[index]!.start()
  },
  async pause({ daemons }, index) {
    process.kill(daemons[index]!.pid, 'SIGSTOP')
    await sleep(30_000)
    process.kill(daemons[index]!.pid, 'SIGCONT')
  },
  async cut({ links }, index) {
    links[index]!.cut()
    await sleep(10_000)
    links[index]!.mend()
  },
  async restart({ server }) {
    const own = server as Postgres
    await own.kill()
    await sleep(1_000)
    await own.start()
  },
  failover: ({ server }) => (server as Replicated).failOver(),
  'clock-ahead': jump(hourMs),
  'clock-back': jump(-hourMs),
} satisfies Record<string, Fault>

export type FaultName = keyof typeof faults
