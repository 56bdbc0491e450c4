/**
 * did:key and did:jwk DIDs of wallets: creation, resolution, what they refuse, restoring.
 * `test/flows/revocation-formats.test.ts` issues and holds with them.
 */
import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { startAgent } from '../../support/agent.ts'
import { withDetail } from '../../support/detail.ts'
import { refusal } from '../../support/tenants.ts'
import { tenantOf, type Call } from './_seed.ts'
import { untilEnd } from '../../support/shared.ts'

const [first, second] = await Promise.all([untilEnd(startAgent()), untilEnd(startAgent())])
const call = (await first.newTenant()).call

const create = async (by: Call, body: object) =>
  (await by('POST /did-registrar/dids', { body: { documentTemplate: {}, ...body } })).longFormDid
const show = (by: Call, didRef: string) => by('GET /did-registrar/dids/{didRef}', { path: { didRef } })
const restore = async (by: Call, ...dids: string[]) =>
  (await by('POST /did-registrar/restorations', { body: { dids } })).restored

describe.each(['key', 'jwk'] as const)('a did:%s', (method) => {
  test.each([undefined, 'P-256', 'secp256k1', 'Ed25519'] as const)(
    'on the curve %s resolves at once, everywhere',
    async (curve) => {
      const did = await create(call, { method, curve })
      expect(did).toMatch(new RegExp(`^did:${method}:`))
      for (const agent of [first, second]) {
        const response = await agent.send('GET', `/dids/${encodeURIComponent(did)}`)
        const { didDocument } = (await response.json()) as any
        const [{ id, publicKeyJwk }] = didDocument.verificationMethod
        expect(publicKeyJwk.crv).toBe(curve ?? 'P-256')
        expect(didDocument).toMatchObject({ id: did, authentication: [id], assertionMethod: [id] })
      }
      expect(await show(call, did)).toEqual({ did, status: 'PUBLISHED' })
      const publication = await call('POST /did-registrar/dids/{didRef}/publications', {
        path: { didRef: did },
      })
      expect(publication.scheduledOperation.didRef).toBe(did)
    },
  )

  test('refuses content, changes, and other wallets', async () => {
    const keys = { publicKeys: [{ id: 'a', purpose: 'authentication' }] }
    expect(await refusal(create(call, { method, documentTemplate: keys }))).toMatchObject(
      withDetail(422, 'is one key and has no other content'),
    )
    expect(await refusal(create(call, { method, curve: 'X25519' }))).toMatchObject(withDetail(400, 'curve'))
    const did = await create(call, { method })
    const path = { didRef: did }
    const addKey = { id: 'a', purpose: 'authentication' as const }
    const body = { actions: [{ actionType: 'ADD_KEY' as const, addKey }] }
    for (const change of [
      call('POST /did-registrar/dids/{didRef}/updates', { path, body }),
      call('POST /did-registrar/dids/{didRef}/deactivations', { path }),
    ])
      expect(await refusal(change)).toMatchObject(withDetail(409, 'is its key, and cannot be changed'))
    const { call: stranger } = await first.newTenant()
    expect(await refusal(show(stranger, did))).toMatchObject({ status: 404 })
  })
})

test('are restored from the seed by name, with their keys and DID indexes', async () => {
  const seed = randomBytes(64).toString('hex')
  const [before, after] = [await tenantOf(first, seed), await tenantOf(second, seed)]
  const dids = [
    await create(before, { method: 'jwk' }),
    await create(before, { method: 'key', curve: 'secp256k1' }),
    await create(before, { method: 'key' }),
  ]
  const random = await create(before, { method: 'key', curve: 'Ed25519' })
  const next = await create(before, { method: 'key' })

  expect(await refusal(restore(after, dids[0]!, random))).toMatchObject(withDetail(422, random))
  expect((await after('GET /did-registrar/dids')).contents).toEqual([])
  const restored = [...dids, next].map((did) => ({ did, status: 'PUBLISHED', missingKeys: [] }))
  expect(await restore(after, ...dids, next)).toEqual(restored)
  expect(await restore(after, ...dids, next)).toEqual([])
  expect(await refusal(restore(after, 'did:web:a.example'))).toMatchObject(withDetail(400, 'dids.0'))

  // Both wallets continue with the same keys.
  expect(await create(after, { method: 'jwk' })).toBe(await create(before, { method: 'jwk' }))
})
