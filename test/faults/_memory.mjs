/**
 * Loaded into a daemon with `node --import`: answers the message `memory` of its parent with the memory after
 * garbage collection, in bytes: `resident` of the process, `committed` and `used` of V8's heap. `handles` are
 * timers, sockets and other active handles.
 */
import { setFlagsFromString } from 'node:v8'
import { setTimeout } from 'node:timers/promises'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc')

process.on('message', async (message) => {
  if (message?.type !== 'memory') return
  // The second collection frees objects released by finalizers of the first.
  collect()
  await setTimeout(10)
  collect()
  const { rss: resident, heapTotal: committed, heapUsed: used } = process.memoryUsage()
  process.send({
    type: 'memory',
    resident,
    committed,
    used,
    handles: process.getActiveResourcesInfo().length,
  })
})
