/** Trust anchors for types of documents of ISO mdoc. */
import { expect, test } from 'vitest'
import { checkMdocChain } from '../../../src/foundation/x509/mdoc-chain.ts'
import type { TrustAnchorInput } from '../../../src/wallet/trust-anchors/model.ts'
import { createChainVerifier, findMdocAnchors } from '../../../src/wallet/trust-anchors/verify-chain.ts'
import { make, type Made, pemOf, x5cOf } from '../../foundation/x509/_chains.ts'
import { drivingLicence, iaca, photoId, signer, signing, usage } from '../../foundation/x509/_mdoc.ts'
import { startAgent } from '../../support/agent-from-sources.ts'
import { untilEnd } from '../../support/shared.ts'
import { refusal, type Tenant } from '../../support/tenants.ts'

const agent = await untilEnd(startAgent())
const [root, licences] = [await iaca(), await iaca('C=UT, CN=Licences')]

const add = ({ call }: Tenant, anchor: Made, docTypes?: string[]) =>
  call('POST /trust-anchors', {
    body: { type: 'x509', value: pemOf(anchor), ...(docTypes && { docTypes }) },
  })

/** Whether a tenant trusts a signer for a type of documents. */
async function trusts({ walletId }: Tenant, made: Made, docType: string, own = false): Promise<boolean> {
  const anchors = await agent.agent.wallets.use(walletId, ({ db }) => findMdocAnchors(db, { own }))
  try {
    return Boolean(checkMdocChain({ x5c: x5cOf(made), anchors, docType, now: new Date() }))
  } catch {
    return false
  }
}

test('an anchor is trusted for its types alone, one without types for all', async () => {
  const tenant = await agent.newTenant()
  const made = await add(tenant, licences, [drivingLicence])
  expect(made).toMatchObject({ type: 'x509', docTypes: [drivingLicence] })
  expect(await tenant.call('GET /trust-anchors/{id}', { path: { id: made.id } })).toEqual(made)
  expect((await add(tenant, root)).docTypes).toBeUndefined()
  const [ofAll, ofLicences] = [await signer(root), await signer(licences)]
  for (const docType of [drivingLicence, photoId]) expect(await trusts(tenant, ofAll, docType)).toBe(true)
  expect(await trusts(tenant, ofLicences, drivingLicence)).toBe(true)
  expect(await trusts(tenant, ofLicences, photoId)).toBe(false)
  expect(await trusts(await agent.newTenant(), ofAll, drivingLicence)).toBe(false)
})

test('an anchor for documents vouches for no SD-JWT VC', async () => {
  const tenant = await agent.newTenant()
  const names = [{ type: 'url' as const, value: 'https://issuer.example' }]
  const x5c = x5cOf(await signer(licences, { names }))
  const verify = () =>
    agent.agent.wallets.use(tenant.walletId, (wallet) =>
      createChainVerifier(wallet)(x5c, 'https://issuer.example'),
    )
  const { id } = await add(tenant, licences, [drivingLicence])
  await expect(verify()).rejects.toMatchObject({ message: expect.stringContaining('no trust anchor') })
  await tenant.call('DELETE /trust-anchors/{id}', { path: { id } })
  await add(tenant, licences)
  expect(await verify()).toMatchObject({ subject: 'C=UT, CN=Signer' })
})

test('a signer may be trusted itself', async () => {
  const tenant = await agent.newTenant()
  const alone = await make('C=UT, CN=Alone', undefined, { extensions: [usage([signing])] })
  expect(await trusts(tenant, alone, drivingLicence)).toBe(false)
  await add(tenant, alone, [drivingLicence])
  expect(await trusts(tenant, alone, drivingLicence)).toBe(true)
  const other = await make('C=UT, CN=Alone', undefined, { keys: alone.keys })
  expect(await refusal(add(tenant, other))).toMatchObject({
    status: 422,
    detail: expect.stringMatching(/is not of an authority.* the extended key usage 1\.0\.18013\.5\.1\.2\./),
  })
})

test('own documents are below own roots', async () => {
  const tenant = await agent.newTenant()
  const body = { profile: 'mdoc' as const, country: 'UT', commonName: 'Licences' }
  const { x5c } = await tenant.call('POST /issuer-certificates/development', { body })
  const of = (own: boolean) =>
    agent.agent.wallets.use(tenant.walletId, async ({ db }) => {
      const anchors = await findMdocAnchors(db, { own })
      return () => checkMdocChain({ x5c: x5c!, anchors, docType: drivingLicence, now: new Date() })
    })
  expect((await of(true))().country).toBe('UT')
  expect(await of(false)).toThrow('is not a trust anchor')
})

test('a status list is of the authority of its documents', async () => {
  const tenant = await agent.newTenant()
  await add(tenant, root)
  await add(tenant, licences, [drivingLicence])
  const [document, ofList, ofOther] = [await signer(root), await signer(root), await signer(licences)]
  const verify = (list: Made, credential: Made) =>
    agent.agent.wallets.use(tenant.walletId, (wallet) =>
      createChainVerifier(wallet)(x5cOf(list), 'any', {
        credential: { x5c: x5cOf(credential), docType: drivingLicence },
      }),
    )
  expect(await verify(ofList, document)).toMatchObject({ subject: 'C=UT, CN=Signer' })
  await expect(verify(ofOther, document)).rejects.toMatchObject({
    message: expect.stringContaining('is not of the authority of the document'),
  })
})

test.each<[Partial<TrustAnchorInput>, string]>([
  [
    { type: 'did', value: 'did:web:issuer.example', docTypes: [photoId] },
    'docTypes: are only for a certificate',
  ],
  [{ docTypes: [] }, 'docTypes'],
  [{ docTypes: ['a b'] }, 'docTypes.0: is not the type of a document'],
  [{ docTypes: ['a'.repeat(256)] }, 'docTypes.0'],
])('refuses %j', async (given, reason) => {
  const tenant = await agent.newTenant()
  const body = { type: 'x509' as const, value: pemOf(root), ...given }
  const { status, detail } = await refusal(tenant.call('POST /trust-anchors', { body }))
  expect([status, detail]).toEqual([400, expect.stringContaining(reason)])
})
