/**
 * Loaded into a daemon with `node --import`: kills it or throws errors at the points of
 * `src/foundation/probe.ts`.
 *
 * FAULTS contains JSON: `kill` kills the process at the nth pass of a point; `rate` is the share of passes
 * that throw. An error at `:before` means that the step had no effect, at `:after` that it had its effect
 * although it reported a failure. With `awaits`, the message `kill` of the parent sets or clears the kill
 * point, and is acknowledged.
 */
import { createRandom } from '../support/random.mjs'

let { kill, rate = 0, seed = 1, awaits = false } = JSON.parse(process.env.FAULTS ?? '{}')
const random = createRandom(seed)
let passed = 0

if (awaits)
  process.on('message', (message) => {
    if (message?.type !== 'kill') return
    kill = message.kill
    passed = 0
    process.send({ type: 'kill' })
  })

// Every transaction compares what the wallet remembers with its rows.
globalThis[Symbol.for('identity-agent.check-memory')] = true

globalThis[Symbol.for('identity-agent.probe')] = (point) => {
  if (kill?.point === point && ++passed === kill.nth) {
    process.kill(process.pid, 'SIGKILL')
    // Block until the signal arrives.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }
  if (rate > 0 && random() < rate) throw new Error(`a fault of the test at ${point}`)
}
