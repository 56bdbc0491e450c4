/** A daemon that is killed while it generates the key of a definition: the next start generates it. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createClient } from '../../daemon/client/client.ts'
import { getPrivateKey } from '../../src/anoncreds/issuer.ts'
import { adminToken, startAgent } from '../_agent.ts'
import { Daemon } from '../_daemon.ts'
import { newDid } from '../_tenants.ts'

const path = '/credential-definition-registry/definitions'

/** Creates a definition at a daemon, without waiting for its key. */
async function begin(url: string): Promise<{ walletId: string; guid: string }> {
  const admin = createClient(url, { 'x-admin-api-key': adminToken })
  const { id: walletId } = await admin('POST /wallets', { body: { name: 'issuer' } })
  const { id: entityId } = await admin('POST /iam/entities', { body: { name: 'issuer', walletId } })
  const apiKey = 'the-key-of-the-issuer'
  await admin('POST /iam/apikey-authentication', { body: { entityId, apiKey } })
  const call = createClient(url, { apikey: apiKey })
  const { did: author } = await newDid({ walletId, entityId, apiKey, call }, 'assertionMethod')
  const named = { name: 'id', version: '1.0.0', author }
  const schema = { name: 'id', version: '1.0.0', attrNames: ['age'], issuerId: author }
  const published = await call('POST /schema-registry/schemas', {
    body: { ...named, type: 'AnoncredSchemaV1', schema },
  })
  const schemaId = `${url}/schema-registry/schemas/${published.guid}/schema`
  const body = { ...named, tag: 'id', schemaId, signatureType: 'CL', supportRevocation: false } as const
  const { guid, state } = await call(`POST ${path}`, { headers: { prefer: 'respond-async' }, body })
  expect(state).toBe('GENERATING')
  return { walletId, guid }
}

test('the definition gets its key, and the wallet its private part', { timeout: 120_000 }, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'killed-'))
  try {
    const daemon = await Daemon.start({
      AGENT_DATA_DIR: dataDir,
      AGENT_CONFIG_DIR: dataDir,
      ADMIN_TOKEN: adminToken,
    })
    const { walletId, guid } = await begin(daemon.url)
    await daemon.stop('SIGKILL')

    await using agent = await startAgent({}, { dataDir })
    await agent.agent.definitions.whenGenerated(guid, AbortSignal.timeout(100_000))
    const { definition } = await agent.admin(`GET ${path}/{guid}`, { path: { guid } })
    const { p, q } = (await agent.agent.wallets.use(walletId, (wallet) => getPrivateKey(wallet, guid))).value
      .p_key
    expect((2n * BigInt(p) + 1n) * (2n * BigInt(q) + 1n)).toBe(BigInt(definition!.value.primary.n))
  } finally {
    rmSync(dataDir, { recursive: true, force: true })
  }
})
