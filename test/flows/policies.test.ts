/** Verification policies in presentation requests. The policy at the time of the request applies. */
import { expect, test } from 'vitest'
import { oobOf, presentationIn, refusal, until, publishSchema } from '../support/tenants.ts'
import { expectRefusal, actOnProof, prove, requestProof, startConnected } from './_steps.ts'
import { untilEnd } from '../support/shared.ts'

const other = `did:prism:${'ab'.repeat(32)}`
const noId = '00000000-0000-4000-8000-000000000000'

const pair = await untilEnd(startConnected())
const { connectionId, issuingDID } = pair
const schemaId = await publishSchema(pair.issuer, issuingDID)
const { recordId } = await pair.toHolder({ name: 'Alice' }, schemaId)
/** A credential without a schema. */
const { recordId: plainRecordId } = await pair.toHolder()

type Constraint = { schemaId: string; trustedIssuers?: string[] }

function newPolicy(...constraints: Constraint[]) {
  return pair.issuer.call('POST /verification/policies', {
    body: { name: 'p', description: '', constraints },
  })
}

/** Requests a presentation with a policy and presents. Returns the reason of a refusal, or `undefined`. */
async function askAndProve(
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
  await actOnProof(pair.holder, presentationId, body)
  const path = { presentationId: made.presentationId }
  const ask = () => pair.issuer.call('GET /present-proof/presentations/{presentationId}', { path })
  const ended = await until('verification', ask, ({ status }) => /Verified$|VerificationFailed$/.test(status))
  return ended.metaLastFailure?.detail
}

test.each<[string, () => Constraint[], RegExp | undefined]>([
  ['nothing', () => [], undefined],
  ['the schema', () => [{ schemaId }], undefined],
  ['the schema by its issuer', () => [{ schemaId, trustedIssuers: [other, issuingDID] }], undefined],
  [
    'the schema by its issuer, in the long form',
    () => [{ schemaId, trustedIssuers: [pair.issuingLongForm] }],
    undefined,
  ],
  [
    'one of two',
    () => [{ schemaId: 'https://a.example/1' }, { schemaId, trustedIssuers: [issuingDID] }],
    undefined,
  ],
  ['another schema', () => [{ schemaId: 'https://a.example/1' }], /accepts none of the schemas/],
  ['another issuer', () => [{ schemaId, trustedIssuers: [other] }], /does not trust the issuer/],
  [
    'the issuer with another schema',
    () => [
      { schemaId, trustedIssuers: [other] },
      { schemaId: 'x', trustedIssuers: [issuingDID] },
    ],
    /trust/,
  ],
])('a policy that accepts %s', async (_, constraints, refused) => {
  const { id } = await newPolicy(...constraints())
  const reason = await askAndProve(id, [recordId])
  if (refused) expect(reason).toMatch(refused)
  else expect(reason).toBeUndefined()
})

test('every credential must satisfy it, and a credential without a schema satisfies no constraint', async () => {
  const { id } = await newPolicy({ schemaId })
  expect(await askAndProve(id, [recordId, plainRecordId])).toMatch(
    /accepts none of the schemas of the credential, \[\]/,
  )
})

test('a policy applies in addition to the proofs of the request', async () => {
  const { id } = await newPolicy({ schemaId })
  expect(await askAndProve(id, [recordId], { proofs: [{ schemaId }] })).toBeUndefined()
  expect(await askAndProve(id, [recordId], { proofs: [{ schemaId: 'https://a.example/1' }] })).toMatch(
    /schemas of the credential/,
  )
})

test('the request contains the accepted schemas and issuers', async () => {
  const { id } = await newPolicy(
    { schemaId, trustedIssuers: [issuingDID] },
    { schemaId: 'https://a.example/1' },
  )
  const { thid, presentationId } = await requestProof(pair.issuer, pair.holder, {
    connectionId,
    policyId: id,
  })
  const row = await pair.agent.agent.wallets.use(pair.holder.walletId, ({ db }) =>
    db.selectFrom('record').select('data').where('id', '=', presentationId).executeTakeFirstOrThrow(),
  )
  const proofs = [{ schemaId, trustIssuers: [issuingDID] }, { schemaId: 'https://a.example/1' }]
  expect(JSON.parse(row.data)).toMatchObject({ proofs, anyProof: true })
  const answered = { action: 'request-accept' as const, proofId: [recordId] }
  await actOnProof(pair.holder, presentationId, answered)
  await presentationIn(pair.issuer.call, thid, 'PresentationVerified')
})

test('changing or deleting the policy does not affect open requests', async () => {
  const strict = await newPolicy({ schemaId: 'https://a.example/1' })
  const lax = { name: 'p', description: '', constraints: [] }
  const path = { id: strict.id }
  const loosen = () =>
    pair.issuer.call('PUT /verification/policies/{id}', { path, query: { nonce: 0 }, body: lax })
  expect(await askAndProve(strict.id, [recordId], {}, loosen)).toMatch(/accepts none/)
  const kept = await newPolicy({ schemaId: 'https://a.example/1' })
  const remove = () => pair.issuer.call('DELETE /verification/policies/{id}', { path: { id: kept.id } })
  expect(await askAndProve(kept.id, [recordId], {}, remove)).toMatch(/accepts none/)
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
  await prove(pair.holder, taken.presentationId, recordId)
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
    body: { connectionId: pair.holderConnectionId, policyId: 'x' },
  })
  await expectRefusal(wrong, 400, /^policyId: /)
})
