/** No statement of a flow scans a table or an index: a flow costs the same in a wallet with a million records. */
import { readdirSync } from 'node:fs'
import { basename, join } from 'node:path'
import { expect, test } from 'vitest'
import { openSqlite, type Database } from '../../../src/foundation/storage/sqlite.ts'
import type { TestAgent } from '../../support/agent.ts'
import { connect, issue, newDid, presentationIn, startPair, type Tenant } from '../../support/tenants.ts'
import { Webhook } from '../../support/webhook.ts'
import { watchStatements } from '../../security/_statements.ts'

/** Tables that may be scanned, because they do not grow with use. */
const short: Record<string, string> = {
  webhook: 'a wallet has a few',
  job: 'a finished job is deleted',
  json_each: 'what a statement is given',
}

/** The tables that SQLite scans for a statement, wholly, or the rows of all records of a protocol. */
function scansOf(database: Database, source: string): string[] {
  const parameters = Array.from(source.matchAll(/\?/g), () => null)
  const plan = database.prepare(`explain query plan ${source}`).all(parameters) as { detail: string }[]
  const ofProtocol = /^SEARCH (\w+) USING INDEX \w+ \(protocol=\?\)$/
  const isLimited = /\blimit\b/i.test(source)
  const scanned = (detail: string) =>
    /^SCAN (\w+)/.exec(detail) ?? (isLimited ? null : ofProtocol.exec(detail))
  return plan.flatMap(({ detail }) => scanned(detail)?.[1] ?? [])
}

const isPlanned = (source: string) => /^(select|insert|update|delete|with)\b/i.test(source)

/** The state before a flow: open wallets with webhooks and DIDs. */
async function prepare(
  issuer: Tenant,
  holder: Tenant,
  webhook: Webhook,
): Promise<{ issuingDID: string; subjectId: string }> {
  for (const { call } of [issuer, holder]) await call('POST /events/webhooks', { body: { url: webhook.url } })
  const [{ did: issuingDID }, { did: subjectId }] = [
    await newDid(issuer, 'assertionMethod'),
    await newDid(holder, 'authentication'),
  ]
  return { issuingDID, subjectId }
}

/** A connection, a credential, its proof, and the lists of all records, with webhooks on both sides. */
async function wholeFlow(
  issuer: Tenant,
  holder: Tenant,
  webhook: Webhook,
  { issuingDID, subjectId }: Awaited<ReturnType<typeof prepare>>,
) {
  const { inviterConnectionId: connectionId } = await connect(issuer, holder)
  const { recordId } = await issue(issuer, holder, connectionId, issuingDID, subjectId)
  const { thid, presentationId } = await issuer.call('POST /present-proof/presentations', {
    body: { connectionId },
  })
  const requested = await presentationIn(holder.call, thid, 'RequestReceived')
  await holder.call('PATCH /present-proof/presentations/{presentationId}', {
    path: { presentationId: requested.presentationId },
    body: { action: 'request-accept', proofId: [recordId] },
  })
  await presentationIn(issuer.call, thid, 'PresentationVerified')
  const accept = { path: { presentationId }, body: { action: 'presentation-accept' } } as const
  await issuer.call('PATCH /present-proof/presentations/{presentationId}', accept)
  await webhook.waitFor(
    'the end',
    ({ data }) => data['thid'] === thid && data['status'] === 'PresentationAccepted',
  )
  for (const { call } of [issuer, holder]) {
    await call('GET /connections', { query: { offset: 1, limit: 10 } })
    await call('GET /issue-credentials/records')
    await call('GET /present-proof/presentations')
  }
}

/** The sweep for old rows, which may run meanwhile, reads the oldest row of each log, and all wallets. */
const ofSweep =
  /^select "(?:at|received_at)" from "\w+" order by "\w+" limit \?$|^select "id" from "wallet" where "moved_at" is null$/

/** The files of an agent's databases, one for each kind. */
function filesOf({ dataDir }: TestAgent): Record<string, string> {
  const wallet = readdirSync(join(dataDir, 'wallets')).find((name) => name.endsWith('.db'))!
  const others = readdirSync(dataDir).filter((name) => name.endsWith('.db'))
  return {
    wallet: join(dataDir, 'wallets', wallet),
    ...Object.fromEntries(others.map((name) => [name, join(dataDir, name)])),
  }
}

test('every statement of a flow uses an index', async () => {
  await using webhook = await Webhook.open()
  await using pair = await startPair()
  const { issuer, holder } = pair
  const dids = await prepare(issuer, holder, webhook)
  // A key that is used for the first time.
  const apiKey = 'another-key-of-the-issuer'
  await pair.agent.admin('POST /iam/apikey-authentication', { body: { entityId: issuer.entityId, apiKey } })
  const statements = new Map<string, { kind: string; source: string }>()
  await watchStatements(
    ({ source, database: { name } }) => {
      const kind = name.includes('/wallets/') ? 'wallet' : basename(name)
      if (isPlanned(source) && !ofSweep.test(source)) statements.set(`${kind} ${source}`, { kind, source })
    },
    async () => {
      expect((await pair.agent.send('GET', '/connections', { headers: { apikey: apiKey } })).status).toBe(200)
      await wholeFlow(issuer, holder, webhook, dids)
    },
  )
  const found: { kind: string; scan: string; source: string }[] = []
  for (const [kind, path] of Object.entries(filesOf(pair.agent))) {
    const database = openSqlite(path, { readonly: true })
    for (const each of statements.values())
      if (each.kind === kind)
        for (const scan of scansOf(database, each.source)) found.push({ kind, scan, source: each.source })
    database.close()
  }
  expect(found.filter(({ kind, scan }) => kind !== 'wallet' || !(scan in short))).toEqual([])
  // The flow covered all kinds of work: steps, jobs, messages, events, webhooks, keys.
  const seen = [...statements.values()].map(({ source }) => source).join('\n')
  for (const table of ['record', 'job', 'inbox', 'event', 'webhook', 'peer_did', 'api_key'])
    expect(seen).toContain(`"${table}"`)
})

test('a statement that reads a whole table is detected', async () => {
  await using pair = await startPair()
  const database = openSqlite(filesOf(pair.agent)['wallet']!, { readonly: true })
  expect(scansOf(database, 'select * from record where state = ?')).toEqual(['record'])
  expect(scansOf(database, 'select count(*) from event where data = ?')).toEqual(['event'])
  expect(scansOf(database, 'select max(sequence) from event')).toEqual([])
  expect(scansOf(database, 'select * from record where id = ?')).toEqual([])
  database.close()
})
