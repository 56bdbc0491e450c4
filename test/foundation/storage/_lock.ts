/**
 * A process (`node --import tsx _lock.ts <file>`) that holds the write lock of a database file before WAL
 * mode, prints `locked`, and releases the lock after 300 ms.
 */
import { openSqlite } from '../../../src/foundation/storage/sqlite.ts'

const database = openSqlite(process.argv[2]!)
database.pragma('journal_mode = DELETE')
database.exec('create table t (x); begin immediate; insert into t values (1)')
process.stdout.write('locked')
setTimeout(() => {
  database.exec('commit')
  database.close()
}, 300)
