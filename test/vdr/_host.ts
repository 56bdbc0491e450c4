/** A process that serves a ledger file as a daemon does: `_host <file> <port>`. Prints the port that it got. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openSqliteLedger } from '../../src/vdr/sqlite-ledger.ts'
import { ledgerApp } from './_serve.ts'

const [file, port] = process.argv.slice(2)
const server = createServer(ledgerApp(await openSqliteLedger(file!)))
server.listen(Number(port), '127.0.0.1', () =>
  process.stdout.write(String((server.address() as AddressInfo).port)),
)
