/** Creates a wallet file, and dies before the nth statement: `tsx _die-migrating.ts <file> <nth>`. */
import { walletMigrations } from '../../../src/foundation/storage/migrations/wallet.ts'
import { migrateFile, withCallback } from './_migrate-file.ts'

const [path, nth] = [process.argv[2]!, Number(process.argv[3])]
let passed = 0
await migrateFile(
  path,
  withCallback(walletMigrations, () => {
    if (++passed < nth) return
    process.kill(process.pid, 'SIGKILL')
    // Block until the signal arrives.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }),
)
