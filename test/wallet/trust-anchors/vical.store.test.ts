/** Lists of authorities (VICAL) as trust anchors: that of the AAMVA, own ones, and forged ones. */
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { type CborValue, Tagged } from '../../../src/foundation/cbor/index.ts'
import { sign1Tag, toX5chain } from '../../../src/foundation/cose/index.ts'
import { checkMdocChain } from '../../../src/foundation/x509/mdoc-chain.ts'
import { x509 } from '../../../src/foundation/x509/issue.ts'
import { checkTrustLists } from '../../../src/operations/doctor/trust-lists.ts'
import { addAnchor, findAnchorValues } from '../../../src/wallet/trust-anchors/anchors.ts'
import { findOverdueList } from '../../../src/wallet/trust-anchors/vical.ts'
import { findMdocAnchors } from '../../../src/wallet/trust-anchors/verify-chain.ts'
import type { Wallet } from '../../../src/wallet/wallet.ts'
import { authority, make, type Made, pemOf, x5cOf } from '../../foundation/x509/_chains.ts'
import { drivingLicence, iaca, photoId, signer, signing, usage } from '../../foundation/x509/_mdoc.ts'
import { startAgent } from '../../support/agent-from-sources.ts'
import { untilEnd } from '../../support/shared.ts'
import { refusal, type Tenant } from '../../support/tenants.ts'
import { day, entryOf, listOf, makeSigner, payloadOf, provider, textOf } from './_vical.ts'

const agent = await untilEnd(startAgent())
const withWallet = <T>({ walletId }: Tenant, use: (wallet: Wallet) => Promise<T>) =>
  agent.agent.wallets.use(walletId, use)

const add = ({ call }: Tenant, list: CborValue, by: Made = provider) =>
  call('POST /trust-anchors', { body: { type: 'vical', value: textOf(list), signer: pemOf(by) } })

async function trusts(tenant: Tenant, made: Made, docType: string): Promise<boolean> {
  const anchors = await withWallet(tenant, ({ db }) => findMdocAnchors(db))
  try {
    return Boolean(checkMdocChain({ x5c: x5cOf(made), anchors, docType, now: new Date() }))
  } catch {
    return false
  }
}

const [licences, photos] = [await iaca('C=UT, CN=Licences'), await iaca('C=UT, CN=Photos')]
const [licence, photo] = [await signer(licences), await signer(photos)]
const entries = [
  { made: licences, docTypes: [drivingLicence] },
  { made: photos, docTypes: [photoId] },
]
const good = await listOf(payloadOf(entries))

test('its authorities are trusted for their types of documents alone', async () => {
  const tenant = await agent.newTenant()
  const made = await add(tenant, good)
  expect(made).toMatchObject({
    type: 'vical',
    subject: 'Utopia',
    list: { provider: 'Utopia', issueId: 7, certificates: 2, docTypes: [drivingLicence, photoId] },
  })
  expect(made.notAfter).toBe(made.list!.nextUpdate)
  expect(await tenant.call('GET /trust-anchors/{id}', { path: { id: made.id } })).toEqual(made)
  const found = await Promise.all([
    trusts(tenant, licence, drivingLicence),
    trusts(tenant, licence, photoId),
    trusts(tenant, photo, photoId),
    trusts(tenant, photo, drivingLicence),
  ])
  expect(found).toEqual([true, false, true, false])
  // Neither for SD-JWT VCs nor for requests of verifiers.
  expect(await withWallet(tenant, ({ db }) => findAnchorValues(db, 'x509'))).toEqual([])
  await tenant.call('DELETE /trust-anchors/{id}', { path: { id: made.id } })
  expect(await trusts(tenant, licence, drivingLicence)).toBe(false)
})

test('a tagged list, and signers with several certificates', async () => {
  const tenant = await agent.newTenant()
  const middle = await authority('CN=Middle', provider)
  const below = await makeSigner(middle)
  const [headers, , payload, signature] = await listOf(payloadOf(entries), below)
  const chain = new Map([[33, toX5chain(x5cOf(below, middle, provider))]])
  const made = await add(tenant, new Tagged(sign1Tag, [headers, chain, payload, signature]))
  expect(made.list!.certificates).toBe(2)
})

test('a later list replaces an earlier one, and an earlier one is refused', async () => {
  const tenant = await agent.newTenant()
  const first = await add(tenant, good)
  const later = await listOf(payloadOf(entries.slice(1), { vicalIssueID: 8 }))
  const second = await add(tenant, later)
  expect((await tenant.call('GET /trust-anchors', {})).contents.map(({ id }) => id)).toEqual([second.id])
  expect(await trusts(tenant, licence, drivingLicence)).toBe(false)
  expect(await trusts(tenant, photo, photoId)).toBe(true)
  expect(second.id).not.toBe(first.id)
  for (const [list, reason] of [
    [good, 'is a later list'],
    [later, 'is the same'],
    [await listOf(payloadOf(entries, { vicalIssueID: 8, date: day(0) })), 'is a later list'],
  ] as const) {
    const { status, detail } = await refusal(add(tenant, list))
    expect([status, detail]).toEqual([409, expect.stringContaining(reason)])
  }
  // Another provider may give itself the same name.
  const other = await authority('CN=Other')
  const stranger = await makeSigner(other)
  await add(tenant, await listOf(payloadOf(entries, { vicalIssueID: 9 }), stranger), other)
  expect((await tenant.call('GET /trust-anchors', {})).contents).toHaveLength(2)
})

test('lists without numbers are compared by their dates', async () => {
  const tenant = await agent.newTenant()
  const dated = (date: CborValue) => listOf(payloadOf(entries, { vicalIssueID: undefined, date }))
  await add(tenant, await dated(day(-2)))
  expect((await refusal(add(tenant, await dated(day(-3))))).status).toBe(409)
  expect((await add(tenant, await dated(day(-1)))).list!.issueId).toBeUndefined()
})

test('a certificate that cannot be an anchor is left out', async () => {
  const tenant = await agent.newTenant()
  const broken = new Map<CborValue, CborValue>([
    ['certificate', new Uint8Array([0x30, 3, 1, 2, 3])],
    ['docType', [drivingLicence]],
  ])
  const leaf = { made: await make('CN=Server', provider), docTypes: [drivingLicence] }
  const infos = [broken, entryOf(leaf), ...entries.map(entryOf)]
  await add(tenant, await listOf(payloadOf([], { certificateInfos: infos })))
  expect(await trusts(tenant, licence, drivingLicence)).toBe(true)
  const none = await refusal(add(tenant, await listOf(payloadOf([leaf], { vicalIssueID: 8 }))))
  expect(none).toMatchObject({ status: 422, detail: expect.stringContaining('no certificate that can be') })
})

const evil = await iaca('C=UT, CN=Evil')

// prettier-ignore
const forgeries: [string, string, () => Promise<CborValue>][] = [
  ['one certificate added', 'The signature of the list is not valid', async () => {
    const payload = payloadOf([...entries, { made: evil, docTypes: [drivingLicence] }])
    return good.map((member, index) => (index === 2 ? payload : member))
  }],
  ['a type of documents added', 'The signature of the list is not valid', async () => {
    const payload = payloadOf([{ made: licences, docTypes: [drivingLicence, photoId] }, entries[1]!])
    return good.map((member, index) => (index === 2 ? payload : member))
  }],
  ['the key of another certificate', 'The signature of the list is not valid', async () => {
    const [headers, , payload, signature] = await listOf(payloadOf(entries), await makeSigner(evil))
    return [headers!, good[1]!, payload!, signature!]
  }],
  ['a signer of another provider', 'is not a trust anchor', async () => listOf(payloadOf(entries), await makeSigner(evil))],
  ['a signer of documents', 'is restricted to other purposes', async () => listOf(payloadOf(entries), await makeSigner(provider, { extensions: [usage([signing])] }))],
  ['a signer of documents, not critical', 'is not for lists of authorities', async () => listOf(payloadOf(entries), await makeSigner(provider, { extensions: [usage([signing], false)] }))],
  ['a signer without purpose', 'is not for lists of authorities', async () => listOf(payloadOf(entries), await makeSigner(provider, { extensions: [] }))],
  ['a signer that may not sign', 'is not for signatures', async () => listOf(payloadOf(entries), await makeSigner(provider, { usages: x509.KeyUsageFlags.keyAgreement }))],
  ['a signer that has ended', 'has ended', async () => listOf(payloadOf(entries), await makeSigner(provider, { from: -9, until: -1 }))],
  ['a list that has ended', 'The list ended on', () => listOf(payloadOf(entries, { nextUpdate: day(-1) }))],
  ['another version', 'payload.version', () => listOf(payloadOf(entries, { version: '2.0' }))],
  ['no certificates', 'payload.certificateInfos', () => listOf(payloadOf([]))],
  ['301 certificates', 'payload.certificateInfos', () => listOf(payloadOf(Array(301).fill(entries[0])))],
  ['no types of documents', 'payload.certificateInfos.0.docType', () => listOf(payloadOf([{ made: licences, docTypes: [] }]))],
  ['no date', 'payload.date: is not a date', () => listOf(payloadOf(entries, { date: 'yesterday' }))],
  ['no certificate of the signer', 'no certificates of its signer', async () => good.map((member, index) => (index === 1 ? new Map() : member))],
  ['something else', 'is not a VICAL', async () => 'a text'],
]

test.each(forgeries)('refuses %s', async (_, reason, make) => {
  const tenant = await agent.newTenant()
  const { status, detail } = await refusal(add(tenant, await make()))
  expect([status, detail]).toEqual([422, expect.stringContaining(reason)])
  expect((await tenant.call('GET /trust-anchors', {})).contents).toEqual([])
})

test.each([
  ['no signer', { signer: undefined }, 'signer: is missing'],
  ['no base64', { value: 'ä' }, 'value: is not base64'],
  ['types of documents', { docTypes: [photoId] }, 'docTypes: are only for a certificate'],
  [
    'a signer of a certificate',
    { type: 'x509' as const, value: pemOf(provider) },
    'signer: is only for a list',
  ],
])('refuses a body with %s', async (_, change, reason) => {
  const tenant = await agent.newTenant()
  const body = { type: 'vical' as const, value: textOf(good), signer: pemOf(provider), ...change }
  const { status, detail } = await refusal(tenant.call('POST /trust-anchors', { body }))
  expect([status, detail]).toEqual([400, expect.stringContaining(reason)])
})

test('an overdue list stays trusted, and is a warning of the doctor', async () => {
  const tenant = await agent.newTenant()
  const { id, notAfter } = await add(tenant, await listOf(payloadOf(entries, { nextUpdate: day(1) })))
  const overdue = (at: Date) => withWallet(tenant, ({ db }) => findOverdueList(db, at))
  expect(await overdue(new Date())).toBeUndefined()
  const found = await overdue(new Date(Date.parse(notAfter!) + 1))
  expect(found).toEqual({ id, provider: 'Utopia', nextUpdate: notAfter })
  expect(checkTrustLists([]).status).toBe('ok')
  const { status, detail, hint } = checkTrustLists([{ ...found!, walletId: 'w1' }])
  expect(status).toBe('warning')
  expect(detail).toContain(`(Utopia) of the wallet w1 should have been replaced on ${notAfter}`)
  expect(hint).toContain('--signer')
})

const aamva = JSON.parse(readFileSync('fixtures/mdoc/vical.json', 'utf8')) as Record<string, string>

test('the list of the AAMVA', async () => {
  const tenant = await agent.newTenant()
  const at = new Date('2025-11-18T20:00:00Z')
  const input = { type: 'vical' as const, value: aamva['aamva']!, signer: aamva['aamva_ca_root']! }
  const made = await withWallet(tenant, (wallet) => addAnchor(wallet, input, at))
  expect(made).toMatchObject({
    subject: 'AAMVA',
    list: {
      issueId: 227_602,
      certificates: 14,
      nextUpdate: '2025-11-19T18:38:12.000Z',
      docTypes: [drivingLicence],
    },
  })
  expect(await withWallet(tenant, ({ db }) => findMdocAnchors(db))).toHaveLength(14)
  const other = await agent.newTenant()
  const byIntermediate = { ...input, signer: aamva['aamva_ca_intermediate']! }
  expect(await withWallet(other, (wallet) => addAnchor(wallet, byIntermediate, at))).toMatchObject({
    type: 'vical',
  })
  const late = withWallet(other, (wallet) => addAnchor(wallet, input, new Date('2025-11-20T00:00:00Z')))
  await expect(late).rejects.toMatchObject({
    status: 422,
    message: expect.stringContaining('The list ended'),
  })
})
