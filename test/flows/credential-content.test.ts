/** The decoded credential of a record and its validity, for both sides and both token formats. */
import { expect, test } from 'vitest'
import { Problem } from '../../src/foundation/problem.ts'
import { findRevocationStatus } from '../../src/wallet/credential-status/check.ts'
import { readContent } from '../../src/exchange/held-credentials/content.ts'
import { startAgent } from '../support/agent.ts'
import { startServer } from '../support/server.ts'
import { connect, credentialIn, issue, newDid, refusal, type Tenant } from '../support/tenants.ts'
import { issueSdJwtTo } from './_sd-jwt.ts'
import { expectRefusal, startWithCredential } from './_steps.ts'
import { untilEnd } from '../support/shared.ts'

/** A server at the address of the status lists that has none. */
const server = await untilEnd(startServer((_, response) => response.writeHead(503).end()))
const home = await untilEnd(startAgent({ POLLUX_STATUS_LIST_REGISTRY_PUBLIC_URL: server.url }))
const away = await untilEnd(startAgent({ VDR_URL: `${home.url}/` }))
const issuer = await home.newTenant('issuer')
const holder = await away.newTenant('holder')
const stranger = await home.newTenant('stranger')
const connectionId = (await connect(issuer, holder)).inviterConnectionId
const issuingDID = (await newDid(issuer, 'assertionMethod')).did
const subjectId = (await newDid(holder, 'authentication', 'Ed25519')).longFormDid

const contentOf = ({ call }: Tenant, recordId: string) =>
  call('GET /issue-credentials/records/{recordId}/credential', { path: { recordId } })

test('a JWT is decoded, and its issuer reads its own status list', async () => {
  const claims = { name: 'Alice', address: { city: 'Ulm' }, constructor: 1 }
  const { recordId, issuerRecordId } = await issue(
    issuer,
    holder,
    connectionId,
    issuingDID,
    subjectId,
    claims,
  )
  const content = await contentOf(issuer, issuerRecordId)
  expect(content).toMatchObject({
    recordId: issuerRecordId,
    credentialFormat: 'JWT',
    issuer: issuingDID,
    subject: subjectId,
    schemas: [],
    validFrom: expect.stringMatching(/^20\d\d-/),
    standing: { status: 'not-revoked' },
    header: { typ: 'JWT', alg: 'ES256K' },
    payload: { iss: issuingDID, vc: { credentialSubject: { id: subjectId } } },
  })
  expect(content.claims).toEqual(claims)
  for (const absent of ['validUntil', 'disclosable', 'bound']) expect(content).not.toHaveProperty(absent)
  // The holder's agent requests the list from the host, which fails.
  const { standing, ...same } = await contentOf(holder, recordId)
  expect(standing).toEqual({ status: 'unknown', detail: expect.stringContaining('503') })
  expect(same).toMatchObject({ recordId, claims, subject: subjectId })

  await issuer.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: issuerRecordId } })
  expect((await contentOf(issuer, issuerRecordId)).standing).toEqual({ status: 'revoked' })
})

test('a status is shown although the wallet of its holder cannot be written', async () => {
  await using pair = await startWithCredential()
  const { issuer, holder, issuerRecordId, recordId } = pair
  expect((await contentOf(holder, recordId)).standing).toEqual({ status: 'not-revoked' })
  await issuer.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: issuerRecordId } })
  await pair.agent.agent.wallets.use(holder.walletId, async (wallet) => {
    await wallet.suspend(() => new Problem('error:InsufficientStorage', 'The disk is full.'))
    expect((await readContent(wallet, recordId)).standing).toEqual({ status: 'revoked' })
    wallet.resume()
  })
  expect((await contentOf(holder, recordId)).standing).toEqual({ status: 'revoked' })
  const record = await holder.call('GET /issue-credentials/records/{recordId}', { path: { recordId } })
  expect(record).toMatchObject({ standing: { status: 'revoked' } })
})

test.each([undefined, 'key-1'])(
  'an SD-JWT accepted with the key %s is decoded with all claims and the names of the disclosable ones',
  async (keyId) => {
    const holding = { issuer: issuer, holder: holder, connectionId, issuingDID, subjectId }
    const claims = { name: 'Alice', 'zip.code': 1, address: { city: 'Ulm' }, tags: ['a'] }
    const { recordId } = await issueSdJwtTo(holding, {
      claims,
      validityPeriod: 3_600,
      ...(keyId !== undefined && { keyId }),
    })
    const content = await contentOf(holder, recordId)
    expect(content).toMatchObject({
      credentialFormat: 'SDJWT',
      claims,
      bound: keyId !== undefined,
      header: { typ: 'vc+sd-jwt' },
    })
    expect(content.schemas).toHaveLength(1)
    expect(content.disclosable!.map((path) => path.join('/')).toSorted()).toEqual(
      ['address', 'address/city', 'name', 'tags', 'tags/0', 'zip.code'].toSorted(),
    )
    const seconds = (Date.parse(content.validUntil!) - Date.parse(content.validFrom!)) / 1_000
    expect(seconds).toBe(3_600)
    expect(JSON.stringify(content.payload)).not.toContain('Alice')
  },
)

test('an unknown credential and one of another tenant cannot be read', async () => {
  const { recordId, thid } = await issuer.call('POST /issue-credentials/credential-offers', {
    body: { connectionId, issuingDID, claims: { name: 'Bob' } },
  })
  await expectRefusal(contentOf(issuer, recordId), 400, 'has no credential yet')
  await credentialIn(holder.call, thid, 'OfferReceived')
  for (const id of [recordId, 'x'])
    expect(await refusal(contentOf(stranger, id))).toMatchObject({ status: 404 })
})

test('a credential without a status cannot be revoked, and the revocation of an unknown status type is unknown', async () => {
  const standing = (...statuses: { type: string }[]) =>
    findRevocationStatus(home.agent.env, { statuses, issuerDid: issuingDID })
  expect(await standing()).toEqual({
    status: 'not-revoked',
    detail: expect.stringContaining('has no status list'),
  })
  expect(await standing({ type: 'Mystery' })).toEqual({
    status: 'unknown',
    detail: expect.stringContaining('Mystery'),
  })
})
