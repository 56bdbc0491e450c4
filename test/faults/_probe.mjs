/**
 * Loaded into a daemon with `node --import`: makes it die or fail at the points that `src/base/probe.ts` names.
 *
 * What it does comes as JSON in FAULTS: `kill` ends the process the nth time that a point is passed; `rate` makes that share of all points
 * throw. An error at a point that ends in `:before` stands for something that did not happen, at `:after` for something that did
 * although whoever asked for it is told that it failed. With `awaits`, a message `kill` of the parent sets the place to die at, or none, and
 * is answered once it is set.
 */
import { createRandom } from '../_random.mjs'

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

globalThis[Symbol.for('identity-agent.probe')] = (point) => {
  if (kill?.point === point && ++passed === kill.nth) {
    process.kill(process.pid, 'SIGKILL')
    // The signal is on its way; nothing may run until it is here.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }
  if (rate > 0 && random() < rate) throw new Error(`a fault of the test at ${point}`)
}
