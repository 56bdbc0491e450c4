/**
 * The entries of `proofs`: one credential must match schema and issuer of an entry, and each entry needs a
 * credential.
 */
import { beforeAll, describe, expect, test } from 'vitest'
import { startAgent } from '../support/agent.ts'
import {
  connect,
  credentialIn,
  issue,
  newDid,
  presentationIn,
  until,
  publishSchema,
} from '../support/tenants.ts'
import { claims, publishDefinition } from '../credentials/anoncreds/_definition.ts'
import { issueSdJwtTo } from './_sd-jwt.ts'
import { expectRefusal, acceptOfferWith, prove } from './_steps.ts'
import { untilEnd } from '../support/shared.ts'

type Line = { schemaId: string; trustIssuers?: string[] }

const here = await untilEnd(startAgent())
const there = await untilEnd(startAgent({ VDR_URL: here.url }))
const issuer = await here.newTenant('issuer and verifier')
const holder = await there.newTenant('holder')
const connectionId = (await connect(issuer, holder)).inviterConnectionId
const [{ did: p }, { did: q }] = await Promise.all([
  newDid(issuer, 'assertionMethod', 'Ed25519'),
  newDid(issuer, 'assertionMethod', 'Ed25519'),
])
const [a, b] = [await publishSchema(issuer, p, { name: 'a' }), await publishSchema(issuer, p, { name: 'b' })]

/** The prover's record of a request, with functions to answer it. */
async function ask(body: {
  proofs?: Line[]
  credentialFormat?: 'SDJWT' | 'AnonCreds'
  anoncredPresentationRequest?: any
}) {
  const asked = await issuer.call('POST /present-proof/presentations', { body: { connectionId, ...body } })
  const { presentationId } = await presentationIn(holder.call, asked.thid, 'RequestReceived')
  const path = { presentationId }
  const answer = (proofId: string[]) => prove(holder, presentationId, ...proofId)
  const verdict = () =>
    until(
      'verification',
      () =>
        issuer.call('GET /present-proof/presentations/{presentationId}', {
          path: { presentationId: asked.presentationId },
        }),
      ({ status }) => /Verified$|VerificationFailed$/.test(status),
    )
  return {
    presentationId: asked.presentationId,
    answer,
    candidates: () => holder.call('GET /present-proof/presentations/{presentationId}/candidates', { path }),
    /** Presents credentials. Returns the reason of a refusal, or `undefined`. */
    outcome: async (proofId: string[]): Promise<string | undefined> => {
      await answer(proofId)
      const { status, metaLastFailure } = await verdict()
      expect(status).toBe(metaLastFailure ? 'PresentationVerificationFailed' : 'PresentationVerified')
      return metaLastFailure?.detail
    },
  }
}

describe('JWT', () => {
  let [aByP, aByQ, bByP] = ['', '', '']
  beforeAll(async () => {
    const { did } = await newDid(holder, 'authentication')
    const made = (issuingDID: string, schemaId?: string) =>
      issue(issuer, holder, connectionId, issuingDID, did, { name: 'Alice' }, schemaId)
    ;[{ recordId: aByP }, { recordId: aByQ }, { recordId: bByP }] = [
      await made(p, a),
      await made(q, a),
      await made(p, b),
    ]
  })

  test('a credential with the schema of one entry and the issuer of another is refused', async () => {
    const { outcome, candidates } = await ask({
      proofs: [
        { schemaId: a, trustIssuers: [p] },
        { schemaId: b, trustIssuers: [q] },
      ],
    })
    expect(await candidates()).toMatchObject({
      candidates: [{ recordId: aByP }],
      lines: [
        { schemaId: a, trustIssuers: [p], candidates: [aByP] },
        { schemaId: b, trustIssuers: [q], candidates: [] },
      ],
    })
    expect(await candidates()).not.toHaveProperty('choice')
    expect(await outcome([aByQ])).toBe(`The request does not trust the issuer ${q} with this schema`)
  })

  test('a credential for each entry is verified; an entry without issuers trusts every issuer', async () => {
    const { outcome, candidates } = await ask({
      proofs: [{ schemaId: a }, { schemaId: b, trustIssuers: [p] }],
    })
    const { lines, choice } = await candidates()
    expect(lines.map((line) => line.candidates)).toEqual([[aByQ, aByP], [bByP]])
    expect(choice).toBeUndefined()
    expect(await outcome([aByQ, bByP])).toBeUndefined()
  })

  test('credentials are assigned so that all entries are satisfied, and one credential may satisfy two', async () => {
    const both = await ask({ proofs: [{ schemaId: a, trustIssuers: [q] }, { schemaId: b }] })
    expect((await both.candidates()).choice).toEqual([aByQ, bByP])
    expect(await both.outcome([aByQ, bByP])).toBeUndefined()
    const one = await ask({ proofs: [{ schemaId: a }, { schemaId: a, trustIssuers: [p] }] })
    expect((await one.candidates()).choice).toEqual([aByP])
    expect(await one.outcome([aByP])).toBeUndefined()
  })
})

describe('SD-JWT', () => {
  let [aByP, aByQ] = ['', '']
  beforeAll(async () => {
    const { did: subjectId } = await newDid(holder, 'authentication', 'Ed25519')
    const made = (issuingDID: string) =>
      issueSdJwtTo(
        { issuer, holder, connectionId, issuingDID, subjectId },
        { claims: { name: 'Alice' }, schemaId: a },
      )
    ;[{ recordId: aByP }, { recordId: aByQ }] = [await made(p), await made(q)]
  })
  const credentialFormat = 'SDJWT' as const

  test('a credential of the schema by another issuer is refused', async () => {
    const { outcome, candidates } = await ask({
      credentialFormat,
      proofs: [{ schemaId: a, trustIssuers: [p] }],
    })
    expect((await candidates()).choice).toEqual([aByP])
    expect(await outcome([aByQ])).toBe(`The request does not trust the issuer ${q} with this schema`)
  })

  test('a request cannot have several entries, because a presentation contains one credential', async () => {
    const body = { connectionId, credentialFormat, proofs: [{ schemaId: a }, { schemaId: b }] }
    await expectRefusal(
      issuer.call('POST /present-proof/presentations', { body }),
      400,
      /^proofs: has 2 entries/,
    )
  })

  test('the schema by a trusted issuer is verified', async () => {
    const { outcome } = await ask({ credentialFormat, proofs: [{ schemaId: a, trustIssuers: [q, p] }] })
    expect(await outcome([aByQ])).toBeUndefined()
  })
})

test('AnonCreds: each attribute has restrictions of its own, and a credential satisfies one of them as a whole', async () => {
  const [one, two] = [await publishDefinition(here, issuer, p), await publishDefinition(here, issuer, q)]
  const body = {
    connectionId,
    credentialFormat: 'AnonCreds' as const,
    credentialDefinitionId: one.guid,
    claims,
    automaticIssuance: true,
  }
  const { thid } = await issuer.call('POST /issue-credentials/credential-offers', { body })
  const { recordId } = await credentialIn(holder.call, thid, 'OfferReceived')
  await acceptOfferWith(holder, recordId, {})
  await credentialIn(holder.call, thid, 'CredentialReceived')

  const askFor = (who: object[], where: object[]) =>
    ask({
      credentialFormat: 'AnonCreds',
      anoncredPresentationRequest: {
        name: 'lines',
        version: '1.0',
        requested_attributes: {
          who: { name: 'Given Name', restrictions: who },
          where: { name: 'country', restrictions: where },
        },
        requested_predicates: {},
      },
    })
  const schemaOf = (definition: typeof one, issuer_did: string) => ({
    schema_id: definition.schemaId,
    issuer_did,
  })
  const mixed = await askFor([schemaOf(one, q), schemaOf(two, p)], [])
  expect((await mixed.candidates()).candidates).toEqual([])
  await expectRefusal(mixed.answer([recordId]), 400, 'cannot answer who')
  const missing = await askFor([schemaOf(one, p)], [schemaOf(two, q)])
  await expectRefusal(missing.answer([recordId]), 400, 'cannot answer where')
  const right = await askFor([{ schema_id: one.schemaId }], [schemaOf(two, q), schemaOf(one, p)])
  expect(await right.outcome([recordId])).toBeUndefined()
})
