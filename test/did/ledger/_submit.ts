/**
 * A separate process that writes to a ledger file: `_submit <file> <name> <count>`. Publishes a shared DID,
 * then adds `count` keys `<name>-<n>` to it with one update each. Starts again from the newest state when
 * another process was faster. Prints the number of refused updates.
 */
import { Problem } from '../../../src/foundation/problem.ts'
import { openSqliteLedger } from '../../../src/did/ledger/sqlite-ledger.ts'
import { key, signedCreate, signedUpdate, suffixOf } from '../prism/_make.ts'

const [file, name, count] = process.argv.slice(2)
await using ledger = await openSqliteLedger(file!)
await ledger.submit(signedCreate())
let refused = 0
for (let i = 0; i < Number(count);) {
  const state = await ledger.getState(suffixOf())
  const update = signedUpdate(state!, [{ action: 'addKey', key: key(`${name}-${i}`, 'authentication') }])
  const isTaken = await ledger.submit(update).then(
    () => true,
    (error: unknown) => {
      if (error instanceof Problem && error.type === 'BadRequest') return false
      throw error
    },
  )
  if (isTaken) i++
  else refused++
}
process.stdout.write(String(refused))
