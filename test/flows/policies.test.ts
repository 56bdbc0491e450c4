/** Verification policies in presentation requests. The policy at the time of the request applies. */
import { afterAll, beforeAll, expect, test } from 'vitest'
import { connect, issue, newDid, oobOf, presentationIn, refusal, startPair, until } from '../_tenants.ts'

const other = `did:prism:${'ab'.repeat(32)}`
const noId = '00000000-0000-4000-8000-000000000000'

let pair: Awaited<ReturnType<typeof startPair>>
let connectionId: string
let holdersConnectionId: string
let issuingDid: { did: string; longFormDid: string }
let schemaId: string
let recordId: string
/** A credential without a schema. */
let plainRecordId: string

beforeAll(async () => {
  pair = await startPair()
  const connection = await connect(pair.issuer, pair.holder)
  ;[connectionId, holdersConnectionId] = [connection.inviterConnectionId, connection.inviteeConnectionId]
  issuingDid = await newDid(pair.issuer, 'assertionMethod')
  const subject = await newDid(pair.holder, 'authentication')
  const { guid } = await pair.issuer.call('POST /schema-registry/schemas', {
    body: {
      name: 'person',
      version: '1.0.0',
      type: 'https://w3c-ccg.github.io/vc-json-schemas/schema/2.0/schema.json',
      schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: { name: { type: 'string' } },
      },
      author: issuingDid.did,
    },
  })
  schemaId = `${pair.agent.url}/schema-registry/schemas/${guid}`
  ;({ recordId } = await issue(
    pair.issuer,
    pair.holder,
    connectionId,
    issuingDid.did,
    subject.did,
    { name: 'Alice' },
    schemaId,
  ))
  ;({ recordId: plainRecordId } = await issue(
    pair.issuer,
    pair.holder,
    connectionId,
    issuingDid.did,
    subject.did,
  ))
})
afterAll(() => pair[Symbol.asyncDispose]())

type Constraint = { schemaId: string; trustedIssuers?: string[] }

function newPolicy(...constraints: Constraint[]) {
  return pair.issuer.call('POST /verification/policies', {
    body: { name: 'p', description: '', constraints },
  })
}

/** Requests a presentation with a policy and presents. Returns the reason of a refusal, or `undefined`. */
async function prove(
  policyId: string,
  proofId: string[],
  more: object = {},
  before: () => Promise<unknown> = async () => {},
) {
  const made = await pair.issuer.call('POST /present-proof/presentations', {
    body: { connectionId, policyId, ...more },
  })
  expect(made.policyId).toBe(policyId)
  const { presentationId } = await presentationIn(pair.holder.call, made.thid, 'RequestReceived')
  await before()
  const body = { action: 'request-accept' as const, proofId }
  await pair.holder.call('PATCH /present-proof/presentations/{presentationId}', {
    path: { presentationId },
    body,
  })
  const path = { presentationId: made.presentationId }
  const ask = () => pair.issuer.call('GET /present-proof/presentations/{presentationId}', { path })
  const ended = await until('verification', ask, ({ status }) => /Verified$|VerificationFailed$/.test(status))
  return ended.metaLastFailure?.detail
}

test.each<[string, () => Constraint[], RegExp | undefined]>([
  ['nothing', () => [], undefined],
  ['the schema', () => [{ schemaId }], undefined],
  ['the schema by its issuer', () => [{ schemaId, trustedIssuers: [other, issuingDid.did] }], undefined],
  [
    'the schema by its issuer, in the long form',
    () => [{ schemaId, trustedIssuers: [issuingDid.longFormDid] }],
    undefined,
  ],
  [
    'one of two',
    () => [{ schemaId: 'https://a.example/1' }, { schemaId, trustedIssuers: [issuingDid.did] }],
    undefined,
  ],
  ['another schema', () => [{ schemaId: 'https://a.example/1' }], /accepts none of the schemas/],
  ['another issuer', () => [{ schemaId, trustedIssuers: [other] }], /does not trust the issuer/],
  [
    'the issuer with another schema',
    () => [
      { schemaId, trustedIssuers: [other] },
      { schemaId: 'x', trustedIssuers: [issuingDid.did] },
    ],
    /trust/,
  ],
])('a policy that accepts %s', async (_, constraints, refused) => {
  const { id } = await newPolicy(...constraints())
  const reason = await prove(id, [recordId])
  if (refused) expect(reason).toMatch(refused)
  else expect(reason).toBeUndefined()
})

test('every credential must satisfy it, and a credential without a schema satisfies no constraint', async () => {
  const { id } = await newPolicy({ schemaId })
  expect(await prove(id, [recordId, plainRecordId])).toMatch(
    /accepts none of the schemas of the credential, \[\]/,
  )
})

test('a policy applies in addition to the proofs of the request', async () => {
  const { id } = await newPolicy({ schemaId })
  expect(await prove(id, [recordId], { proofs: [{ schemaId }] })).toBeUndefined()
  expect(await prove(id, [recordId], { proofs: [{ schemaId: 'https://a.example/1' }] })).toMatch(
    /schemas of the credential/,
  )
})

test('the request contains the accepted schemas and issuers', async () => {
  const { id } = await newPolicy(
    { schemaId, trustedIssuers: [issuingDid.did] },
    { schemaId: 'https://a.example/1' },
  )
  const { thid } = await pair.issuer.call('POST /present-proof/presentations', {
    body: { connectionId, policyId: id },
  })
  const { presentationId } = await presentationIn(pair.holder.call, thid, 'RequestReceived')
  const row = await pair.agent.agent.wallets.use(pair.holder.walletId, ({ db }) =>
    db.selectFrom('record').select('data').where('id', '=', presentationId).executeTakeFirstOrThrow(),
  )
  const proofs = [{ schemaId, trustIssuers: [issuingDid.did] }, { schemaId: 'https://a.example/1' }]
  expect(JSON.parse(row.data)).toMatchObject({ proofs, anyProof: true })
  const answered = { action: 'request-accept' as const, proofId: [recordId] }
  await pair.holder.call('PATCH /present-proof/presentations/{presentationId}', {
    path: { presentationId },
    body: answered,
  })
  await presentationIn(pair.issuer.call, thid, 'PresentationVerified')
})

test('changing or deleting the policy does not affect open requests', async () => {
  const strict = await newPolicy({ schemaId: 'https://a.example/1' })
  const lax = { name: 'p', description: '', constraints: [] }
  const path = { id: strict.id }
  const loosen = () =>
    pair.issuer.call('PUT /verification/policies/{id}', { path, query: { nonce: 0 }, body: lax })
  expect(await prove(strict.id, [recordId], {}, loosen)).toMatch(/accepts none/)
  const kept = await newPolicy({ schemaId: 'https://a.example/1' })
  const remove = () => pair.issuer.call('DELETE /verification/policies/{id}', { path: { id: kept.id } })
  expect(await prove(kept.id, [recordId], {}, remove)).toMatch(/accepts none/)
})

test('a policy applies to every agent that answers an invitation', async () => {
  const { id } = await newPolicy({ schemaId: 'https://a.example/1' })
  const invited = await pair.issuer.call('POST /present-proof/presentations/invitation', {
    body: { policyId: id },
  })
  expect(invited.policyId).toBe(id)
  const taken = await pair.holder.call('POST /present-proof/presentations/accept-invitation', {
    body: { invitation: oobOf(invited as { invitation: { invitationUrl: string } }) },
  })
  expect(taken).not.toHaveProperty('policyId')
  await pair.holder.call('PATCH /present-proof/presentations/{presentationId}', {
    path: { presentationId: taken.presentationId },
    body: { action: 'request-accept', proofId: [recordId] },
  })
  const refused = await presentationIn(pair.issuer.call, invited.thid, 'PresentationVerificationFailed')
  expect(refused.metaLastFailure?.detail).toMatch(/accepts none/)
})

test('an unknown policy is 404, and no request is sent', async () => {
  const foreign = await pair.holder.call('POST /verification/policies', {
    body: { name: 'p', description: '' },
  })
  const before = await pair.issuer.call('GET /present-proof/presentations')
  for (const policyId of [noId, foreign.id]) {
    for (const asked of [
      () => pair.issuer.call('POST /present-proof/presentations', { body: { connectionId, policyId } }),
      () => pair.issuer.call('POST /present-proof/presentations/invitation', { body: { policyId } }),
    ]) {
      expect(await refusal(asked())).toMatchObject({
        status: 404,
        type: 'NotFound',
        detail: `policyId: there is no verification policy ${policyId}.`,
      })
    }
  }
  expect(await pair.issuer.call('GET /present-proof/presentations')).toEqual(before)
  const wrong = pair.holder.call('POST /present-proof/presentations', {
    body: { connectionId: holdersConnectionId, policyId: 'x' },
  })
  expect(await refusal(wrong)).toMatchObject({ status: 400, detail: expect.stringMatching(/^policyId: /) })
})
