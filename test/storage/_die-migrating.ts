/** Makes a wallet's file, and dies before the nth statement: `tsx _die-migrating.ts <file> <nth>`. */
import { walletMigrations } from '../../src/storage/database.ts'
import { migrateFile, telling } from './_telling.ts'

const [path, nth] = [process.argv[2]!, Number(process.argv[3])]
let passed = 0
await migrateFile(
  path,
  telling(walletMigrations, () => {
    if (++passed < nth) return
    process.kill(process.pid, 'SIGKILL')
    // The signal is on its way; nothing may run until it is here.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
  }),
)
