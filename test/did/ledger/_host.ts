/** A process that serves a ledger file like a daemon: `_host <file> <port>`. Prints its port. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openSqliteLedger } from '../../../src/did/ledger/sqlite-ledger.ts'
import { ledgerApp } from './_serve.ts'

const [file, port] = process.argv.slice(2)
const server = createServer(ledgerApp(await openSqliteLedger(file!)))
server.listen(Number(port), '127.0.0.1', () =>
  process.stdout.write(String((server.address() as AddressInfo).port)),
)
