/**
 * No statement of a flow reads rows in vain: over PostgreSQL, where row-level security keeps conditions from
 * indexes, a flow costs the same after 30,000 events as in a new wallet.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import * as z from 'zod'
import { startAgent } from '../../../support/agent.ts'
import { needsPostgres } from '../../../support/needs-postgres.ts'
import { quick, startPostgres } from '../../../support/postgres.ts'
import { connect, issue, newDid, presentationIn, startPair } from '../../../support/tenants.ts'
import { Webhook } from '../../../support/webhook.ts'

needsPostgres()

/** Rows that each wallet has of what grows with use. */
const rows = 30_000

/** Rows that a statement may read and not need: the 256 shards, and tables with few rows, are read whole. */
const maxInVain = 300

/** A node of a plan, as `auto_explain` writes it. */
const Plan = z.object({
  'Node Type': z.string(),
  'Relation Name': z.string().optional(),
  'Actual Rows': z.number(),
  'Actual Loops': z.number(),
  'Rows Removed by Filter': z.number().default(0),
  'Rows Removed by Join Filter': z.number().default(0),
  'Rows Removed by Index Recheck': z.number().default(0),
  get Plans(): z.ZodDefault<z.ZodArray<typeof Plan>> {
    return z.array(Plan).default([])
  },
})
type Plan = z.infer<typeof Plan>
const Explained = z.object({ 'Query Text': z.string(), Plan })

/** The explained statements in the server's log, whose lines are JSON. */
function plansIn(folder: string): z.infer<typeof Explained>[] {
  const lines = readdirSync(folder)
    .filter((name) => name.endsWith('.json'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
  return lines.flatMap((line) => {
    const message = line === '' ? '' : (JSON.parse(line) as { message: string }).message
    const plan = /^duration: .* plan:\n([^]*)$/.exec(message)?.[1]
    return plan === undefined ? [] : [Explained.parse(JSON.parse(plan))]
  })
}

/** Rows that a plan has read without need: those that a filter removed, and those of a scan of a long table. */
function readInVain(plan: Plan): number {
  const scanned = plan['Node Type'] === 'Seq Scan' ? plan['Actual Rows'] : 0
  const removed =
    plan['Rows Removed by Filter'] +
    plan['Rows Removed by Join Filter'] +
    plan['Rows Removed by Index Recheck']
  return (
    (scanned + removed) * plan['Actual Loops'] + plan.Plans.reduce((sum, inner) => sum + readInVain(inner), 0)
  )
}

/** Old rows of all wallets. The ids of events are those of nothing else. */
const fill = `
  insert into event (wallet_id, sequence, id, type, subject, data, ts)
    select id::uuid, 1000000 + n, id || '-' || n, 'ConnectionUpdated', 'subject ' || n, '{}', '2026-01-01T00:00:00.000Z'
    from wallet, generate_series(1, ${rows}) n;
  insert into record (wallet_id, id, protocol, role, state, thid, data, created_at)
    select id::uuid, gen_random_uuid(), 'connection', 'Inviter', 'ConnectionResponseSent', gen_random_uuid(), '{}',
      '2026-01-01T00:00:00.000Z'
    from wallet, generate_series(1, ${rows});
  insert into inbox (wallet_id, rowid, id, received_at)
    select id::uuid, 1000000 + n, gen_random_uuid(), '2099-01-01T00:00:00.000Z' from wallet, generate_series(1, ${rows}) n;
  insert into message_log (wallet_id, sequence, thread, id, direction, outcome, type, from_did, to_did, at, event_sequence)
    select id::uuid, 1000000 + n, gen_random_uuid(), gen_random_uuid(), 'received', 'handled', 'x', 'x', 'x',
      '2099-01-01T00:00:00.000Z', n
    from wallet, generate_series(1, ${rows}) n;
  analyze`

test('a flow after 30,000 events reads no rows in vain', async () => {
  await using server = await startPostgres([
    ...quick.filter((setting) => !setting.startsWith('log_min_messages')),
    'shared_preload_libraries=auto_explain',
    'auto_explain.log_analyze=on',
    'auto_explain.log_timing=off',
    'auto_explain.log_format=json',
    'logging_collector=on',
    'log_destination=jsonlog',
    'log_directory=plans',
  ])
  const url = await server.createDatabase()
  const database = new URL(url).pathname.slice(1)
  await using webhook = await Webhook.open()
  await using agent = await startAgent({ AGENT_DATABASE_URL: url })
  const { issuer, holder } = await startPair({}, () => Promise.resolve(agent))
  const issuingDID = (await newDid(issuer, 'assertionMethod')).did
  const subjectId = (await newDid(holder, 'authentication')).did
  await server.asSuperuser(database, fill)
  for (const { call } of [issuer, holder]) await call('POST /events/webhooks', { body: { url: webhook.url } })

  await server.asSuperuser(database, 'alter system set auto_explain.log_min_duration = 0')
  await server.asSuperuser(database, 'select pg_reload_conf()')
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
  await webhook.waitFor(
    'the end',
    ({ data }) => data['presentationId'] === presentationId && data['status'] === 'PresentationVerified',
  )

  const statements = plansIn(join(server.data, 'plans'))
  expect(statements.length).toBeGreaterThan(300)
  const seen = statements.map((statement) => statement['Query Text']).join('\n')
  for (const table of ['record', 'job', 'inbox', 'event', 'webhook', 'peer_did', 'message_log'])
    expect(seen).toContain(`"${table}"`)
  const wasteful = statements
    .map(({ 'Query Text': text, Plan: plan }) => ({ text, rows: readInVain(plan) }))
    .filter((statement) => statement.rows > maxInVain)
  expect([...new Map(wasteful.map((each) => [each.text, each])).values()]).toEqual([])
})
