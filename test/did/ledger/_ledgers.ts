/** Ledgers for tests: files, clocks, clients. */
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { createHttpClient } from '../../../src/foundation/net/http-client.ts'
import { createHttpLedger } from '../../../src/did/ledger/http-ledger.ts'
import type { Ledger } from '../../../src/did/ledger/ledger.ts'
import type { NodeLimits } from '../../../src/did/ledger/neoprism-client.ts'
import { openSqliteLedger, type SqliteLedgerOptions } from '../../../src/did/ledger/sqlite-ledger.ts'
import { at, key } from '../prism/_make.ts'
import { startServer } from '../../support/server.ts'
import { ledgerApp } from './_serve.ts'
import { newFolder } from '../../support/folder.ts'

/** The actions of an update that adds a key. */
export const add = (id: string) => [{ action: 'addKey' as const, key: key(id, 'authentication') }]

export function temporaryFile(): string {
  return join(newFolder(), 'vdr.db')
}

/** A settable clock, in seconds after `at`. */
export function clock() {
  const time = { seconds: 0, now: () => new Date(at.getTime() + time.seconds * 1_000) }
  return time
}

export const afterSeconds = (seconds: number) => new Date(at.getTime() + seconds * 1_000).toISOString()

export async function openFile(path: string, options: SqliteLedgerOptions = {}) {
  const ledger = await openSqliteLedger(path, { now: () => at, ...options })
  onTestFinished(() => ledger.close())
  return ledger
}

/** A client of the node at a URL. */
export function openUrl(url: string, limits?: NodeLimits): Ledger {
  const http = createHttpClient({ allow: 'any' })
  onTestFinished(() => http.close())
  return createHttpLedger(url, http, limits)
}

/** A new ledger file, used through the API of a daemon. */
export async function openServed(options: SqliteLedgerOptions = {}): Promise<Ledger> {
  const server = await startServer(ledgerApp(await openFile(temporaryFile(), options)))
  onTestFinished(() => server[Symbol.asyncDispose]())
  return openUrl(server.url)
}
