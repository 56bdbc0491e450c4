/**
 * A process of its own that publishes: `_publish <ledger file> <JSON file> <first> <count>`. The JSON file is a list of signed operations in
 * hexadecimal. Hands in its own, then those of the next process as well, and prints the places it saw all of them at.
 */
import { readFileSync } from 'node:fs'
import { openSqliteLedger } from '../../src/vdr/sqlite-ledger.ts'

const [ledgerFile, jsonFile, first, count] = process.argv.slice(2)
const all = JSON.parse(readFileSync(jsonFile!, 'utf8')) as string[]
await using ledger = await openSqliteLedger(ledgerFile!)
const seen: Record<string, number | undefined> = {}
for (let i = 0; i < 2 * Number(count); i++) {
  const { operationId } = await ledger.submit(Buffer.from(all[(Number(first) + i) % all.length]!, 'hex'))
  seen[operationId] = (await ledger.findEntry(operationId))?.sequence
}
process.stdout.write(JSON.stringify(seen))
