/**
 * A separate process that publishes: `_publish <ledger file> <JSON file> <first> <count>`. The JSON file is a
 * list of signed operations in hexadecimal. Submits its own operations, then those of the next process, and
 * prints their sequence numbers.
 */
import { readFileSync } from 'node:fs'
import { openSqliteLedger } from '../../../src/did/ledger/sqlite-ledger.ts'

const [ledgerFile, jsonFile, first, count] = process.argv.slice(2)
const all = JSON.parse(readFileSync(jsonFile!, 'utf8')) as string[]
await using ledger = await openSqliteLedger(ledgerFile!)
const seen: Record<string, number | undefined> = {}
for (let i = 0; i < 2 * Number(count); i++) {
  const { operationId } = await ledger.submit(Buffer.from(all[(Number(first) + i) % all.length]!, 'hex'))
  seen[operationId] = (await ledger.findEntry(operationId))?.sequence
}
process.stdout.write(JSON.stringify(seen))
