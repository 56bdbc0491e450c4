/** DID requests and challenges are answered by wallets of OpenID4VP. */
import { describe, expect, test } from 'vitest'
import { generateKey, toPublic } from '../../../src/foundation/crypto/keys.ts'
import { createJwkDid } from '../../../src/did/jwk.ts'
import { refusal } from '../../support/tenants.ts'
import { startStatusList } from '../oid4vp/_status-list.ts'
import {
  failureOf,
  holderKey,
  issueSdJwt,
  issuerDid,
  issuerKey,
  newVerifierDid,
  presentationOf,
  requestProof,
  respond,
  readRequest,
  present,
  presentSdJwt,
  startVerifier,
  type Presented,
} from '../oid4vp/_wallet.ts'
import { answerTo, shop, submit as submitDigital } from '../oid4vp/_digital.ts'
import { answer as answerAsForeignWallet } from '../oid4vp/_foreign-wallet.ts'
import {
  answer,
  answerByTwo,
  challengeOf,
  didRequestOf,
  newChallenge,
  newDidRequest,
  person,
  personAndRole,
  requestOf,
  submit,
  trustIssuer,
} from './_openid4vp.ts'
import { newHolder } from './_suite.ts'
import { untilEnd } from '../../support/shared.ts'

const holderDid = createJwkDid(toPublic(holderKey))

const verifier = await untilEnd(
  startVerifier({ ENTERPRISE_SUBMISSIONS_PER_MINUTE: '100000', ENTERPRISE_EVENTS: 'true' }),
)
await trustIssuer(verifier.tenant)

const passed = (name: string) => expect.objectContaining({ name, result: 'passed' })

test('a DID request: the key of the presented credential is the DID', async () => {
  const { tenant } = verifier
  const made = await newDidRequest(tenant)
  expect(made).toMatchObject({
    state: 'pending',
    openid4vp: { authorizationRequest: expect.stringMatching(/^openid4vp:/) },
  })
  expect(made).not.toHaveProperty('answeredBy')
  expect((await answer(made)).status).toBe(200)
  const done = await didRequestOf(tenant, made.id)
  expect(done).toMatchObject({
    state: 'success',
    did: holderDid,
    answeredBy: 'openid4vp',
    openid4vp: {
      credentials: [{ issuer: issuerDid, holder: holderDid, claims: { name: 'Alice' } }],
      checks: expect.arrayContaining(['nonce', 'trust', 'holder-binding', 'status', 'identity'].map(passed)),
    },
  })
  const record = await presentationOf(verifier, done.openid4vp!.presentationId)
  expect(record.status).toBe('PresentationVerified')
  expect(await submit(made.didRequest.onboardEndpoint, { did: newHolder().did })).toMatchObject({
    status: 410,
  })
})

test('a challenge: the holder signs in with a credential, and gets a token', async () => {
  const { tenant } = verifier
  const made = await newChallenge(tenant, person, holderDid)
  expect(made.expectedDid).toBe(holderDid)
  expect((await answer(made)).status).toBe(200)
  expect(await challengeOf(tenant, made.id)).toMatchObject({
    state: 'success',
    did: holderDid,
    answeredBy: 'openid4vp',
  })
  const path = { challengeId: made.id }
  const token = await tenant.call('POST /did-authentication/challenges/{challengeId}/token', { path })
  expect(token.subject).toBe(holderDid)
})

test('a wallet of others answers signed and encrypted requests of both', async () => {
  const did = await newVerifierDid(verifier)
  const options = { ...person, did, responseMode: 'direct_post.jwt' } as const
  const didRequest = await newDidRequest(verifier.tenant, options)
  expect((await answerAsForeignWallet(didRequest.openid4vp!.authorizationRequest)).response.status).toBe(200)
  expect(await didRequestOf(verifier.tenant, didRequest.id)).toMatchObject({
    state: 'success',
    did: holderDid,
  })
  const challenge = await newChallenge(verifier.tenant, options, holderDid)
  expect((await answerAsForeignWallet(challenge.openid4vp!.authorizationRequest)).response.status).toBe(200)
  expect(await challengeOf(verifier.tenant, challenge.id)).toMatchObject({ state: 'success', did: holderDid })
})

test('the answer of a page by the Digital Credentials API ends a challenge, for the expected holder only', async () => {
  const answerByPage = async (expectedDid: string) => {
    const options = { ...person, responseMode: 'dc_api' as const, origins: [shop] }
    const challenge = await newChallenge(verifier.tenant, options, expectedDid)
    const { presentationId } = challenge.openid4vp!
    const { openid4vp } = await presentationOf(verifier, presentationId)
    const { protocol, data } = openid4vp!.digitalRequest!
    await submitDigital(verifier, { presentationId, protocol }, await answerTo(data, shop))
    return challengeOf(verifier.tenant, challenge.id)
  }
  expect(await answerByPage(holderDid)).toMatchObject({
    state: 'success',
    did: holderDid,
    answeredBy: 'openid4vp',
  })
  const other = await answerByPage(newHolder().did)
  expect(other).toMatchObject({ state: 'error', did: null })
  expect(other.openid4vp!.checks!.find(({ result }) => result === 'failed')!.name).toBe('identity')
})

test('the subject of a credential is who answers if its DID has the key', async () => {
  const { did, key } = newHolder()
  const stranger = generateKey('P-256')
  const credential = (holder: typeof key) => issueSdJwt({ payload: { sub: did }, holder })
  const own = await newDidRequest(verifier.tenant)
  await answer(own, { credential: await credential(key), key })
  expect(await didRequestOf(verifier.tenant, own.id)).toMatchObject({ state: 'success', did })
  const other = await newDidRequest(verifier.tenant)
  await answer(other, { credential: await credential(stranger), key: stranger })
  expect(await didRequestOf(verifier.tenant, other.id)).toMatchObject({
    state: 'success',
    did: createJwkDid(toPublic(stranger)),
  })
})

test('several credentials are of one holder, unless the challenge says otherwise', async () => {
  const one = await newChallenge(verifier.tenant, personAndRole)
  expect((await answerByTwo(one, holderKey)).status).toBe(200)
  expect(await challengeOf(verifier.tenant, one.id)).toMatchObject({ state: 'success', did: holderDid })
  const any = await newChallenge(verifier.tenant, { ...personAndRole, sameHolder: false })
  expect((await answerByTwo(any)).status).toBe(200)
  expect(await challengeOf(verifier.tenant, any.id)).toMatchObject({ state: 'success', did: holderDid })
})

test('without a query, credentials of the wallet’s own issuers and trust anchors are asked for, without claims', async () => {
  const { openid4vp } = await newChallenge(verifier.tenant, {})
  const { dcql_query: query } = await readRequest(openid4vp!.authorizationRequest)
  expect(query.credentials.map(({ format, claims }: any) => ({ format, claims }))).toEqual([
    { format: 'dc+sd-jwt', claims: undefined },
    { format: 'jwt_vc_json', claims: undefined },
  ])
  expect(query.credential_sets).toEqual([{ options: [['sd_jwt'], ['jwt']] }])
  const record = await presentationOf(verifier, openid4vp!.presentationId)
  expect(record.status).toBe('RequestCreated')
})

describe('attacks', () => {
  /** The attack ends the challenge without a DID. */
  async function expectFailed(id: string, check: string, reason?: RegExp) {
    const { state, did, openid4vp, answeredBy } = await challengeOf(verifier.tenant, id)
    expect({ state, did, answeredBy }).toEqual({ state: 'error', did: null, answeredBy: 'openid4vp' })
    const [failed, ...more] = openid4vp!.checks!.filter(({ result }) => result === 'failed')
    expect([failed!.name, more]).toEqual([check, []])
    if (reason) expect(failed!.reason).toMatch(reason)
    expect(openid4vp).not.toHaveProperty('credentials')
    expect(await failureOf(verifier, openid4vp!.presentationId)).toHaveLength(1)
    const path = { challengeId: id }
    const token = verifier.tenant.call('POST /did-authentication/challenges/{challengeId}/token', { path })
    expect(await refusal(token)).toMatchObject({ status: 400 })
  }

  test('the answer of another challenge is replayed', async () => {
    const [one, other] = [await newChallenge(verifier.tenant), await newChallenge(verifier.tenant)]
    const request = await requestOf(one)
    const stolen = await presentSdJwt(request)
    expect((await present(request, { person: [stolen] })).status).toBe(200)
    expect((await present(await requestOf(other), { person: [stolen] })).status).toBe(400)
    await expectFailed(other.id, 'audience')
  })

  test('the nonce is that of another challenge', async () => {
    const [one, other] = [await newChallenge(verifier.tenant), await newChallenge(verifier.tenant)]
    const { nonce } = await requestOf(one)
    expect((await answer(other, { binding: { nonce } })).status).toBe(400)
    await expectFailed(other.id, 'nonce')
    expect((await challengeOf(verifier.tenant, one.id)).state).toBe('pending')
  })

  test('the nonce is that of the challenge’s other way to answer', async () => {
    const made = await newChallenge(verifier.tenant)
    expect((await answer(made, { binding: { nonce: made.challenge.nonce } })).status).toBe(400)
    await expectFailed(made.id, 'nonce')
  })

  test('an answer to a proof request is replayed', async () => {
    const asked = await requestProof(verifier)
    const request = await readRequest(asked.openid4vp!.authorizationRequest)
    const stolen = await presentSdJwt(request)
    const made = await newChallenge(verifier.tenant)
    expect((await present(await requestOf(made), { person: [stolen] })).status).toBe(400)
    await expectFailed(made.id, 'audience')
  })

  const stranger = generateKey('P-256')
  const other = newHolder().did
  const ofStranger = { key: stranger, payload: { iss: createJwkDid(toPublic(stranger)) } }
  test.each<[string, string | undefined, Presented, string, RegExp?]>([
    [
      'another holder answers',
      holderDid,
      { issued: { holder: stranger }, key: stranger },
      'identity',
      /another DID/,
    ],
    [
      'the issuer names the holder without its key',
      other,
      { issued: { payload: { sub: other } } },
      'identity',
    ],
    [
      'a stranger issues a credential to itself',
      undefined,
      { issued: ofStranger },
      'trust',
      /is not a trust anchor/,
    ],
    ['the credential has no key binding', undefined, { isBound: false }, 'query'],
  ])('%s', async (_, expectedDid, presented, check, reason) => {
    const made = await newChallenge(verifier.tenant, person, expectedDid)
    expect((await answer(made, presented)).status).toBe(400)
    await expectFailed(made.id, check, reason)
  })

  test('two persons answer together', async () => {
    const made = await newChallenge(verifier.tenant, personAndRole)
    expect((await answerByTwo(made)).status).toBe(400)
    await expectFailed(made.id, 'same-holder', /several holders: person of did:jwk:.*, role of did:jwk:/)
  })

  test('the credential is revoked', async () => {
    let revoked = 0
    await using list = await startStatusList(() => ({
      issuer: issuerDid,
      kid: `${issuerDid}#0`,
      key: issuerKey,
      statuses: [[1, revoked]],
    }))
    const credential = await issueSdJwt({ payload: list.payloadOf(1) })
    expect((await answer(await newChallenge(verifier.tenant), { credential })).status).toBe(200)
    revoked = 1
    const made = await newChallenge(verifier.tenant)
    expect((await answer(made, { credential })).status).toBe(400)
    await expectFailed(made.id, 'status', /revoked/)
  })

  test('a person declines', async () => {
    const made = await newChallenge(verifier.tenant)
    const request = await requestOf(made)
    expect((await respond(request, { error: 'access_denied', state: request.state })).status).toBe(200)
    expect(await challengeOf(verifier.tenant, made.id)).toMatchObject({ state: 'error', did: null })
  })

  test('a response with another state changes nothing', async () => {
    const made = await newChallenge(verifier.tenant)
    const request = await requestOf(made)
    expect((await respond(request, { error: 'access_denied', state: 'guessed' })).status).toBe(400)
    expect((await challengeOf(verifier.tenant, made.id)).state).toBe('pending')
    expect((await answer(made)).status).toBe(200)
  })

  test('the DID signs in the other way, and is another than the challenge is for', async () => {
    const { answer: signed, did } = newHolder()
    const made = await newChallenge(verifier.tenant, person, newHolder().did)
    const { submissionEndpoint, nonce } = made.challenge
    expect(await submit(submissionEndpoint, signed(nonce))).toMatchObject({
      status: 400,
      body: { detail: 'did: it is not the DID that the challenge is for' },
    })
    expect((await challengeOf(verifier.tenant, made.id)).state).toBe('error')
    const own = await newChallenge(verifier.tenant, person, did)
    expect(await submit(own.challenge.submissionEndpoint, signed(own.challenge.nonce))).toMatchObject({
      status: 200,
    })
  })
})

describe('one answer counts', () => {
  test('an answer to the link withdraws the request', async () => {
    const { answer: signed, did } = newHolder()
    const made = await newChallenge(verifier.tenant)
    const request = await requestOf(made)
    expect(await submit(made.challenge.submissionEndpoint, signed(made.challenge.nonce))).toMatchObject({
      status: 200,
    })
    expect(await present(request, { person: [await presentSdJwt(request)] })).toMatchObject({ status: 400 })
    expect(await challengeOf(verifier.tenant, made.id)).toMatchObject({
      state: 'success',
      did,
      answeredBy: 'submission',
    })
    const record = await presentationOf(verifier, made.openid4vp!.presentationId)
    expect(record).toMatchObject({ status: 'RequestExpired', metaLastFailure: { title: 'Session closed' } })
  })

  test('of answers in both ways at once, one wins', async () => {
    for (let round = 0; round < 10; round++) {
      const { answer: signed, did } = newHolder()
      const made = await newChallenge(verifier.tenant)
      const request = await requestOf(made)
      const vp = await presentSdJwt(request)
      const answers = await Promise.all([
        submit(made.challenge.submissionEndpoint, signed(made.challenge.nonce)),
        present(request, { person: [vp] }),
      ])
      const statuses = answers.map(({ status }) => status)
      const isSubmission = statuses[0] === 200
      expect(statuses).toEqual(isSubmission ? [200, 400] : [410, 200])
      expect(await challengeOf(verifier.tenant, made.id)).toMatchObject({
        state: 'success',
        did: isSubmission ? did : holderDid,
        answeredBy: isSubmission ? 'submission' : 'openid4vp',
      })
      const { status } = await presentationOf(verifier, made.openid4vp!.presentationId)
      expect(status).toBe(isSubmission ? 'RequestExpired' : 'PresentationVerified')
    }
  })

  test('a deleted session accepts no response', async () => {
    const made = await newDidRequest(verifier.tenant)
    const request = await requestOf(made)
    await verifier.tenant.call('DELETE /onboard/did-requests/{didRequestId}', {
      path: { didRequestId: made.id },
    })
    expect((await present(request, { person: [await presentSdJwt(request)] })).status).toBe(400)
    const { status } = await presentationOf(verifier, made.openid4vp!.presentationId)
    expect(status).toBe('RequestExpired')
  })
})

test('queries without proof of the holder, and signers that do not exist, are refused with the member', async () => {
  const [query] = person.dcqlQuery!.credentials
  const refused = async (openid4vp: object) =>
    refusal(newChallenge(verifier.tenant, openid4vp)) as Promise<{ status: number; detail: string }>
  const unbound = { credentials: [{ ...query!, require_cryptographic_holder_binding: false }] }
  expect(await refused({ dcqlQuery: unbound })).toMatchObject({
    status: 400,
    detail: expect.stringContaining('openid4vp.dcqlQuery.credentials.0.require_cryptographic_holder_binding'),
  })
  expect(await refused({ dcqlQuery: { credentials: [{ ...query!, multiple: true }] } })).toMatchObject({
    status: 400,
    detail: expect.stringContaining('credentials.0.multiple'),
  })
  expect(await refused({ keyId: 'key-1' })).toMatchObject({
    status: 400,
    detail: expect.stringContaining('openid4vp.keyId'),
  })
  expect(await refused({ did: issuerDid })).toMatchObject({
    status: 400,
    detail: expect.stringContaining('is not in this wallet'),
  })
  const malformed = newChallenge(verifier.tenant, person, 'did:jwk:x')
  expect(await refusal(malformed)).toMatchObject({
    status: 400,
    detail: expect.stringContaining('expectedDid'),
  })
})

test('events of the session and of its presentation have the result', async () => {
  const made = await newDidRequest(verifier.tenant)
  await answer(made)
  const { contents } = await verifier.tenant.call('GET /events', { query: { limit: 1_000 } })
  const states = contents
    .filter(({ data }: any) => data.id === made.id)
    .map(({ type, data }: any) => [type, data.state, data.answeredBy])
  expect(states).toEqual([
    ['DidRequestUpdated', 'pending', undefined],
    ['DidRequestUpdated', 'success', 'openid4vp'],
  ])
})
