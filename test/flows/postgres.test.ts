/** The main flow over PostgreSQL, which each change must pass. Others are in `x.store.test.ts`. */
import { expect, test } from 'vitest'
import { createClient } from '../../daemon/client/client.ts'
import { startAgent, type TestAgent } from '../support/agent.ts'
import { newFolder } from '../support/folder.ts'
import { needsPostgres } from '../support/needs-postgres.ts'
import { openServer } from '../support/shared-postgres.ts'
import { presentationIn, publishSchema, type Tenant } from '../support/tenants.ts'
import { actOnProof, prove, requestProof, startConnected } from './_steps.ts'

needsPostgres()

/** Reads the records of a tenant, without the addresses of the agent in them. */
async function contentsOf(call: Tenant['call']): Promise<object[][]> {
  const lists = [
    await call('GET /connections'),
    await call('GET /did-registrar/dids'),
    await call('GET /issue-credentials/records'),
    await call('GET /present-proof/presentations'),
  ]
  return lists.map(({ contents }) => contents.map((each) => ({ ...each, self: undefined })))
}

/** Runs the flow at an agent, which is closed then. @returns both tenants, and what they have */
async function runFlow(start: () => Promise<TestAgent>) {
  await using pair = await startConnected({}, 'secp256k1', start)
  const { issuer, holder, connectionId, issuingDID } = pair
  const schemaId = await publishSchema(issuer, issuingDID)
  const { recordId } = await pair.toHolder({ name: 'Alice' }, schemaId)
  const options = { challenge: 'challenge', domain: 'https://verifier.example' }
  const proofs = [{ schemaId, trustIssuers: [issuingDID] }]
  const { thid, presentationId } = await requestProof(issuer, holder, { connectionId, options, proofs })
  await prove(holder, presentationId, recordId)
  const verified = await presentationIn(issuer.call, thid, 'PresentationVerified')
  await actOnProof(issuer, verified.presentationId, { action: 'presentation-accept' })
  await presentationIn(holder.call, thid, 'PresentationSent')
  const tenants: { apiKey: string; contents: object[][] }[] = []
  for (const { apiKey, call } of [issuer, holder]) tenants.push({ apiKey, contents: await contentsOf(call) })
  return tenants
}

test('two tenants connect, issue, present and verify, and a restart finds everything', async () => {
  const server = await openServer()
  const url = await server.createDatabase()
  const dataDir = newFolder()
  const start = () => startAgent({ AGENT_DATABASE_URL: url, AGENT_DATABASE_CONNECTIONS: '10' }, { dataDir })
  const tenants = await runFlow(start)
  await using again = await start()
  for (const { apiKey, contents } of tenants) {
    expect(contents.map((list) => list.length)).toEqual([1, 1, 1, 1])
    expect(await contentsOf(createClient(again.url, { apikey: apiKey }))).toEqual(contents)
  }
  // Those of the tenants, and the default one.
  const count = 'select count(*)::integer as wallets from wallet'
  const { rows } = await server.asSuperuser(new URL(url).pathname.slice(1), count)
  expect(rows).toEqual([{ wallets: 3 }])
})
