/** P-256 keys of DIDs. `test/flows/revocation-formats.test.ts` issues and presents with them. */
import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { startAgent, type TestAgent } from '../../support/agent.ts'
import { withDetail } from '../../support/detail.ts'
import { refusal } from '../../support/tenants.ts'
import { tenantOf, type Call } from './_seed.ts'
import { untilEnd } from '../../support/shared.ts'

const [first, second] = await Promise.all([untilEnd(startAgent()), untilEnd(startAgent())])

const key = (id: string, curve: 'P-256' | 'secp256k1' = 'P-256') => ({
  id,
  purpose: 'assertionMethod' as const,
  curve,
})
const create = async (call: Call, ...publicKeys: object[]) =>
  (
    await call('POST /did-registrar/dids', {
      body: { method: 'web', documentTemplate: { publicKeys } } as never,
    })
  ).longFormDid

/** The public keys of a DID's document. */
async function keysOf(agent: TestAgent, did: string): Promise<{ crv: string; x: string }[]> {
  const response = await agent.send('GET', `/dids/${encodeURIComponent(did)}`)
  const { didDocument } = (await response.json()) as any
  return didDocument.verificationMethod.map(({ publicKeyJwk }: any) => publicKeyJwk)
}

test('follow from the seed, also those that an update adds', async () => {
  const seed = randomBytes(64).toString('hex')
  const keys = []
  for (const agent of [first, second]) {
    const call = await tenantOf(agent, seed)
    const did = await create(call, key('a'), key('b', 'secp256k1'))
    await call('POST /did-registrar/dids/{didRef}/updates', {
      path: { didRef: did },
      body: { actions: [{ actionType: 'ADD_KEY', addKey: key('c') }] },
    })
    keys.push(await keysOf(agent, did))
  }
  expect(keys[0]!.map(({ crv }) => crv)).toEqual(['P-256', 'secp256k1', 'P-256'])
  expect(new Set(keys[0]!.map(({ x }) => x)).size).toBe(3)
  expect(keys[1]).toEqual(keys[0])
})

test('are refused in a did:prism, by creation and update', async () => {
  const { call } = await first.newTenant()
  const reason = 'key "k": the ledger of did:prism accepts no P-256 keys. Use a did:web'
  const body = { documentTemplate: { publicKeys: [key('k')] } }
  expect(await refusal(call('POST /did-registrar/dids', { body }))).toMatchObject(withDetail(422, reason))
})
