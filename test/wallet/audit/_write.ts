/** A process that does audited acts, `_write <folder> <name> <count>`. */
import { soleOwnership } from '../../../src/cluster/ownership.ts'
import { act, openLog } from './_log.ts'

const [folder, name, count] = process.argv.slice(2)
const running = ['one', 'two', 'three']
const processes = { ...soleOwnership, name: name!, listRunning: () => Promise.resolve(running) }
const log = await openLog({ processes }, folder)
for (let n = 0; n < Number(count); n++) await act(log.audit, `${name} ${n}`)
await log.close()
