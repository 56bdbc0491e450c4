/** The credentials that satisfy a presentation request, and the reasons why others do not. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { issueJwtVc } from '../../src/credentials/codecs/jwt-vc.ts'
import { generateKey } from '../../src/foundation/crypto/keys.ts'
import { presentationIn, refusal, until, publishSchema, type Tenant } from '../support/tenants.ts'
import { present } from './_revocation.ts'
import { issueSdJwtTo } from './_sd-jwt.ts'
import { prove, readCredential, startConnected } from './_steps.ts'

const candidatesOf = ({ call }: Tenant, presentationId: string) =>
  call('GET /present-proof/presentations/{presentationId}/candidates', { path: { presentationId } })

type Asked = {
  connectionId: string
  credentialFormat?: 'SDJWT'
  claims?: Record<string, any>
  proofs?: { schemaId: string; trustIssuers?: string[] }[]
}

/** The candidates of a new request: record ids that satisfy it, and the reasons why others do not. */
async function ask({ issuer, holder }: { issuer: Tenant; holder: Tenant }, body: Asked) {
  const { thid } = await issuer.call('POST /present-proof/presentations', { body })
  const { presentationId } = await presentationIn(holder.call, thid, 'RequestReceived')
  const { candidates, others } = await candidatesOf(holder, presentationId)
  const reasons = Object.fromEntries(others.map(({ recordId, reason }) => [recordId, reason]))
  return {
    thid,
    presentationId,
    candidates,
    ids: candidates.map(({ recordId }) => recordId),
    others,
    reasons,
  }
}

test('a JWT with the requested schema and issuer is a candidate and can be presented', async () => {
  await using pair = await startConnected({}, 'Ed25519')
  const { issuer, holder, connectionId, issuingDID } = pair
  const schemaId = await publishSchema(issuer, issuingDID)
  const plain = await pair.toHolder({ name: 'Alice', age: 42 })
  const person = await pair.toHolder({ name: 'Bob' }, schemaId)

  const all = await ask(pair, { connectionId })
  expect(all.others).toEqual([])
  expect(all.candidates).toEqual([
    expect.objectContaining({ recordId: person.recordId, schemas: [schemaId], claims: ['name'] }),
    {
      recordId: plain.recordId,
      credentialFormat: 'JWT',
      issuer: issuingDID,
      schemas: [],
      claims: ['name', 'age'],
      receivedAt: expect.any(String),
      expired: false,
      revoked: false,
    },
  ])

  const bySchema = await ask(pair, { connectionId, proofs: [{ schemaId, trustIssuers: [issuingDID] }] })
  expect(bySchema).toMatchObject({
    ids: [person.recordId],
    reasons: {
      [plain.recordId]: `The request accepts none of the schemas of the credential, []; it accepts ${schemaId}`,
    },
  })
  await prove(holder, bySchema.presentationId, ...bySchema.ids)
  await presentationIn(issuer.call, bySchema.thid, 'PresentationVerified')

  const byOther = await ask(pair, { connectionId, proofs: [{ schemaId, trustIssuers: [pair.subjectId] }] })
  expect(byOther.ids).toEqual([])
  expect(byOther.reasons[person.recordId]).toMatch(
    /^The request does not trust the issuer did:prism:\w+ with this schema$/,
  )
})

test('a credential that is revoked, expired, unreadable or without its key is not a candidate', async () => {
  await using pair = await startConnected({}, 'Ed25519')
  const { issuer, holder, connectionId, issuingDID } = pair
  const revoked = await pair.toHolder({ a: 1 })
  const [expired, broken, foreign] = [
    await pair.toHolder({ b: 1 }),
    await pair.toHolder({ c: 1 }),
    await pair.toHolder({ d: 1 }),
  ]
  await issuer.call('PATCH /credential-status/revoke-credential/{id}', {
    path: { id: revoked.issuerRecordId },
  })
  await until(
    'the revocation notice',
    () => readCredential(holder, revoked.recordId),
    (record) => record.revoked === true,
  )
  const old = issueJwtVc({
    issuerDid: issuingDID,
    issuerKey: generateKey('Ed25519'),
    subjectDid: pair.subjectId,
    claims: { b: 1 },
    schemas: [],
    validityPeriod: 60,
    now: 1_600_000_000,
  })
  await pair.agent.agent.wallets.use(holder.walletId, (wallet) =>
    wallet.transaction(async (tx) => {
      await tx.updateTable('credential').set({ credential: old }).where('id', '=', expired.recordId).execute()
      await tx.updateTable('credential').set({ credential: 'x' }).where('id', '=', broken.recordId).execute()
      await tx
        .updateTable('credential')
        .set({ subject: issuingDID })
        .where('id', '=', foreign.recordId)
        .execute()
    }),
  )

  const { ids, reasons, others } = await ask(pair, { connectionId })
  expect(ids).toEqual([])
  expect(reasons).toEqual({
    [revoked.recordId]: 'The issuer has revoked it',
    [expired.recordId]: 'Valid until 2020-09-13T12:27:40.000Z',
    [broken.recordId]: expect.stringMatching(/./),
    [foreign.recordId]: expect.stringContaining(issuingDID),
  })
  expect(others.filter((other) => other.revoked).map(({ recordId }) => recordId)).toEqual([revoked.recordId])
  expect(others.filter((other) => other.expired).map(({ recordId }) => recordId)).toEqual([expired.recordId])
})

test('an SD-JWT with the requested claims is a candidate, and a JWT is not', async () => {
  await using pair = await startConnected({}, 'Ed25519')
  const { connectionId } = pair
  const jwt = await pair.toHolder({ name: 'Alice' })
  const whole = await issueSdJwtTo(pair, { keyId: 'key-1' })
  const short = await issueSdJwtTo(pair, { claims: { name: 'Alice', address: { zip: 3000 } } })

  const { ids, reasons, candidates } = await ask(pair, {
    connectionId,
    credentialFormat: 'SDJWT',
    claims: { address: { city: '' } },
  })
  expect(ids).toEqual([whole.recordId])
  expect(candidates[0]).toMatchObject({
    credentialFormat: 'SDJWT',
    claims: expect.arrayContaining(['name', 'age', 'address', 'degrees']),
  })
  expect(reasons).toEqual({
    [jwt.recordId]: 'It is a JWT credential; the request is for SDJWT',
    [short.recordId]: 'It has no claim address.city, which is requested',
  })
  const jwtOnly = await ask(pair, { connectionId })
  expect(jwtOnly.ids).toEqual([jwt.recordId])
})

test('only a prover has candidates, also after its answer', async () => {
  await using pair = await startConnected({}, 'Ed25519')
  const { issuer, holder, connectionId } = pair
  const { recordId } = await pair.toHolder({ a: 1 })
  const thid = await present(issuer, holder, { connectionId }, recordId)
  const asked = await presentationIn(issuer.call, thid, 'PresentationVerified')
  const answered = await presentationIn(holder.call, thid, 'PresentationSent')
  expect(await refusal(candidatesOf(issuer, asked.presentationId))).toMatchObject({
    status: 400,
    type: 'error:PresentationError:InvalidFlowStateError',
    detail: expect.stringContaining('Verifier'),
  })
  expect(await refusal(candidatesOf(issuer, answered.presentationId))).toMatchObject({ status: 404 })
  expect(await refusal(candidatesOf(holder, randomUUID()))).toMatchObject({ status: 404 })
  expect((await candidatesOf(holder, answered.presentationId)).candidates).toHaveLength(1)
})
