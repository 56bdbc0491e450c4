/** Whose credentials a request accepts: `issuers`, and what the verifier’s record says of it. */
import { describe, expect, test } from 'vitest'
import { connect, issue, newDid, presentationIn } from '../support/tenants.ts'
import { issueSdJwtTo } from './_sd-jwt.ts'
import { expectRefusal, prove, requestProof, startConnected } from './_steps.ts'
import { untilEnd } from '../support/shared.ts'

type Format = 'JWT' | 'SDJWT'

/** The credentials of the holder by their format: of the issuer, and of a stranger with the same claims. */
const held = {} as Record<Format, { good: string; forged: string }>
const pair = await untilEnd(startConnected({}, 'Ed25519'))
const { holder, subjectId, issuingDID } = pair
const mallory = await pair.agent.newTenant()
const stranger = (await newDid(mallory, 'assertionMethod', 'Ed25519')).did
const { inviterConnectionId } = await connect(mallory, holder)
const claims = { name: 'Alice' }
const issued = async (format: Format, tenant: typeof mallory, connectionId: string, did: string) => {
  const about = { issuer: tenant, holder, connectionId, issuingDID: did, subjectId }
  const { recordId } =
    format === 'JWT'
      ? await issue(tenant, holder, connectionId, did, subjectId, claims)
      : await issueSdJwtTo(about, { claims, keyId: 'key-1' })
  return recordId
}
for (const format of ['JWT', 'SDJWT'] as const)
  held[format] = {
    good: await issued(format, pair.issuer, pair.connectionId, issuingDID),
    forged: await issued(format, mallory, inviterConnectionId, stranger),
  }

/** What a request asks for, by the format of its answer. */
const asked = (format: Format, isDcql: boolean): object => {
  if (!isDcql) return { credentialFormat: format, ...(format === 'SDJWT' && { claims: { name: '' } }) }
  const credential =
    format === 'SDJWT'
      ? {
          format: 'dc+sd-jwt',
          meta: { vct_values: ['https://www.w3.org/2018/credentials#VerifiableCredential'] },
          claims: [{ path: ['name'] }],
        }
      : { format: 'jwt_vc_json', meta: { type_values: [['VerifiableCredential']] } }
  return { dcqlQuery: { credentials: [{ id: 'person', ...credential }] } }
}

async function present(body: object, recordId: string, state: string) {
  const { issuer, holder, connectionId } = pair
  const { thid, presentationId } = await requestProof(issuer, holder, { connectionId, ...body })
  const path = { presentationId }
  const found = await holder.call('GET /present-proof/presentations/{presentationId}/candidates', { path })
  await prove(holder, presentationId, recordId)
  return { ...(await presentationIn(issuer.call, thid, state)), found }
}

describe.each([
  ['a JWT', 'JWT', false],
  ['an SD-JWT', 'SDJWT', false],
  ['a JWT for a query', 'JWT', true],
  ['an SD-JWT for a query', 'SDJWT', true],
] as const)('%s', (_, format, isDcql) => {
  const request = asked(format, isDcql)

  test('of a named issuer is valid, and the record says who presented what, by whom it is issued', async () => {
    const { issuingDID: issuer } = pair
    const body = { ...request, issuers: ['did:web:other.example', issuer] }
    const record = await present(body, held[format].good, 'PresentationVerified')
    expect(record.verification).toMatchObject({
      issuersChecked: true,
      credentials: [{ issuer, holder: expect.stringMatching(/^did:/), claims: { name: 'Alice' } }],
    })
    const checks = record.verification!.checks!
    expect(checks.every(({ result }) => result === 'passed')).toBe(true)
    expect(checks.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['nonce', 'trust', 'holder-binding', 'signature', 'status']),
    )
    // The holder knows, and presents nothing in vain.
    expect(record.found.choice).toEqual([held[format].good])
    expect(record.found.others.find(({ recordId }) => recordId === held[format].forged)!.reason).toBe(
      `The request does not accept the issuer ${stranger}`,
    )
  })

  test('of a stranger is refused', async () => {
    const body = { ...request, issuers: [pair.issuingDID] }
    const record = await present(body, held[format].forged, 'PresentationVerificationFailed')
    expect(record.metaLastFailure!.detail).toContain(`does not trust the issuer ${stranger}`)
    expect(record.verification!.checks).toContainEqual(
      expect.objectContaining({ name: 'trust', result: 'failed' }),
    )
    expect(record.verification!.credentials).toBeUndefined()
  })

  test('of a stranger is valid if any issuer is accepted, and its issuer is not checked', async () => {
    for (const issuers of ['any', undefined]) {
      const record = await present({ ...request, issuers }, held[format].forged, 'PresentationVerified')
      expect(record.verification).toMatchObject({
        issuersChecked: false,
        credentials: [{ issuer: stranger }],
      })
      expect(record.verification!.checks!.map(({ name }) => name)).not.toContain('trust')
    }
  })

  test('of an issuer that is not a trust anchor is refused by `trusted`', async () => {
    const record = await present(
      { ...request, issuers: 'trusted' },
      held[format].good,
      'PresentationVerificationFailed',
    )
    expect(record.metaLastFailure!.detail).toContain('is not a trust anchor of this wallet')
  })
})

test('a request over OpenID4VP says whose credentials it accepts', async () => {
  const { issuer, issuingDID } = pair
  const dcqlQuery = { credentials: [{ id: 'a', format: 'dc+sd-jwt', meta: { vct_values: ['urn:a'] } }] }
  const policyOf = async (trustedIssuers: string[]) => {
    const constraints = [{ schemaId: 'urn:a', trustedIssuers }]
    const body = { name: 'p', description: '', constraints }
    return (await issuer.call('POST /verification/policies', { body })).id
  }
  const [any, named] = [await policyOf([]), await policyOf([issuingDID])]
  const request = (body: object) =>
    issuer.call('POST /present-proof/presentations/openid4vp', { body: { dcqlQuery, ...body } })
  for (const body of [{}, { policyId: any }])
    await expectRefusal(request(body), 400, /^issuers: say whose credentials are accepted/)
  const authorities = [{ type: 'aki', values: ['bm9uZQ'] }]
  const byAuthority = { credentials: [{ ...dcqlQuery.credentials[0], trusted_authorities: authorities }] }
  for (const body of [{ policyId: named }, { issuers: [issuingDID] }, { dcqlQuery: byAuthority }])
    expect((await request(body)).verification).toEqual({ issuersChecked: true })
  expect((await request({ issuers: 'any' })).verification).toEqual({ issuersChecked: false })
})
