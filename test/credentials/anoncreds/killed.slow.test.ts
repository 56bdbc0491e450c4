/** A daemon that is killed while it generates the key of a definition: the next start generates it. */
import { expect, test } from 'vitest'
import { getPrivateKey } from '../../../src/credentials/anoncreds/issuer.ts'
import { startAgent } from '../../support/agent.ts'
import { Daemon } from '../../support/daemon.ts'
import { newDid, type Tenant } from '../../support/tenants.ts'

const path = '/credential-definition-registry/definitions'

/** A key takes minutes on a busy machine. */
const patienceMs = 400_000

/** Creates a definition, without waiting for its key. Returns its guid. */
async function begin(issuer: Tenant): Promise<string> {
  const { call, url } = issuer
  const { did: author } = await newDid(issuer, 'assertionMethod')
  const named = { name: 'id', version: '1.0.0', author }
  const schema = { name: 'id', version: '1.0.0', attrNames: ['age'], issuerId: author }
  const published = await call('POST /schema-registry/schemas', {
    body: { ...named, type: 'AnoncredSchemaV1', schema },
  })
  const schemaId = `${url}/schema-registry/schemas/${published.guid}/schema`
  const body = { ...named, tag: 'id', schemaId, signatureType: 'CL', supportRevocation: false } as const
  const { guid, state } = await call(`POST ${path}`, { headers: { prefer: 'respond-async' }, body })
  expect(state).toBe('GENERATING')
  return guid
}

test(
  'the definition gets its key, and the wallet its private part',
  { timeout: patienceMs + 60_000 },
  async () => {
    await using daemon = await Daemon.start()
    const issuer = await daemon.newTenant('issuer')
    const guid = await begin(issuer)
    await daemon.stop('SIGKILL')

    await using agent = await startAgent({}, { dataDir: daemon.dataDir })
    await agent.agent.definitions.whenGenerated(guid, AbortSignal.timeout(patienceMs))
    const { definition } = await agent.admin(`GET ${path}/{guid}`, { path: { guid } })
    const read = agent.agent.wallets.use(issuer.walletId, (wallet) => getPrivateKey(wallet, guid))
    const { p, q } = (await read).value.p_key
    expect((2n * BigInt(p) + 1n) * (2n * BigInt(q) + 1n)).toBe(BigInt(definition!.value.primary.n))
  },
)
