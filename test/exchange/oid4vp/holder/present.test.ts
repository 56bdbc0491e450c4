/** A tenant answers requests over OpenID4VP with its credentials. */
import { expect, test } from 'vitest'
import { toPublic } from '../../../../src/foundation/crypto/keys.ts'
import { createJwkDid } from '../../../../src/did/jwk.ts'
import { issueSdJwtTo } from '../../../flows/_sd-jwt.ts'
import { issue, refusal } from '../../../support/tenants.ts'
import { newVerifierDid, presentationOf, requestProof } from '../_wallet.ts'
import {
  act,
  anyCredential,
  candidatesOf,
  credentialQuery,
  inState,
  presented,
  receive,
  requested,
  startWallet,
} from './_holder.ts'
import { openVerifier } from './_verifier.ts'
import * as holding from '../../oid4vci/holder/_holder.ts'
import { keysIn, startFakeIssuer, vct } from '../../oid4vci/holder/_issuer.ts'
import { untilEnd } from '../../../support/shared.ts'

const wallet = await untilEnd(startWallet())

test('an unsigned request is answered with the requested claims and no others', async () => {
  const asking = await requested(wallet)
  expect(asking.received.openid4vpRequest).toMatchObject({
    clientId: asking.asked.openid4vp!.clientId,
    responseMode: 'direct_post',
    verifier: {
      clientIdPrefix: 'redirect_uri',
      authentication: 'none',
      responseHost: new URL(wallet.agent.url).host,
      isTrusted: false,
    },
  })
  const { proved, verified } = await presented(wallet, asking)
  expect(proved.openid4vpRequest!.steps.map(({ step }) => step)).toEqual([
    'request',
    'client id',
    'response_uri',
    'query',
    'consent',
    'response',
  ])
  expect(verified.openid4vp!.credentials).toMatchObject([
    { credentialId: 'person', types: [anyCredential], claims: { name: 'Alice' } },
  ])
  expect(Object.keys(verified.openid4vp!.credentials![0]!.claims)).toEqual(['name'])
})

test('a request that a DID has signed is answered with an encrypted response', async () => {
  const did = await newVerifierDid(wallet.verifier)
  const options = { did, responseMode: 'direct_post.jwt', redirectUri: 'https://shop.example/done' } as const
  const asking = await requested(wallet, options)
  const { openid4vpRequest } = asking.received
  expect(openid4vpRequest).toMatchObject({
    clientId: `decentralized_identifier:${did}`,
    verifier: { clientIdPrefix: 'decentralized_identifier', authentication: 'did', isTrusted: false },
    expiresAt: asking.asked.openid4vp!.expiresAt,
  })
  expect(openid4vpRequest!.steps[0]).toMatchObject({
    step: 'request_uri',
    detail: expect.stringMatching(/^POST http.*: 200/),
  })
  const { proved } = await presented(wallet, asking)
  expect(proved.openid4vpRequest!.redirectUri).toMatch(/^https:\/\/shop\.example\/done\?response_code=/)
})

test('a credential that the issuer bound to a DID URL is received and presented', async () => {
  await using issuer = await startFakeIssuer()
  const { holder } = wallet
  let did: string
  issuer.on('credential', ({ body }) => {
    did = createJwkDid(toPublic(keysIn(JSON.parse(body) as object)[0]!))
    return { body: { credentials: [{ credential: issuer.issue(body, { cnf: { kid: `${did}#0` } }) }] } }
  })
  const { recordId } = await holding.receive(holder, issuer.offer())
  await holding.accept(holder, recordId)
  await holding.inState(holder, recordId, 'CredentialReceived')
  const asking = await requested(wallet, { dcqlQuery: { credentials: [credentialQuery({ types: [vct] })] } })
  const { verified } = await presented(wallet, asking)
  expect(verified.openid4vp!.credentials).toMatchObject([{ holder: did!, claims: { name: 'Alice' } }])
})

test('nested claims, elements of arrays, and claim sets', async () => {
  const claims = [
    { id: 'city', path: ['address', 'city'] },
    { id: 'second', path: ['nationalities', 1] },
    { id: 'email', path: ['email'] },
  ]
  const more = { claim_sets: [['email'], ['city', 'second']] }
  const asking = await requested(wallet, { dcqlQuery: { credentials: [credentialQuery({ claims, more })] } })
  const { candidates, choice } = await candidatesOf(wallet.holder, asking.id)
  expect(candidates).toMatchObject([
    {
      recordId: wallet.sdJwtId,
      discloses: [
        { credentialId: 'person', claims: expect.arrayContaining(['address.city', 'nationalities.1']) },
      ],
    },
  ])
  expect(choice).toEqual([wallet.sdJwtId])
  const { verified } = await presented(wallet, asking, { proofId: [wallet.sdJwtId] })
  expect(verified.openid4vp!.credentials![0]!.claims).toEqual({
    address: { city: 'Springfield' },
    nationalities: ['FR'],
  })
})

test('a JWT credential is presented as a whole, by its subject', async () => {
  const { holder, issuer, connectionId, issuingDID, subjectId } = wallet
  const { recordId } = await issue(issuer, holder, connectionId, issuingDID, subjectId, { name: 'Alice' })
  const query = credentialQuery({
    format: 'jwt_vc_json',
    types: ['VerifiableCredential'],
    claims: [{ path: ['credentialSubject', 'name'] }],
  })
  const asking = await requested(wallet, { dcqlQuery: { credentials: [query] } })
  const { candidates } = await candidatesOf(holder, asking.id)
  expect(candidates).toMatchObject([{ recordId, discloses: [{ credentialId: 'person', claims: ['*'] }] }])
  const { verified } = await presented(wallet, asking)
  expect(verified.openid4vp!.credentials).toMatchObject([{ claims: { name: 'Alice' } }])
})

test('several credentials answer a request, and the named ones of several', async () => {
  const { holder } = wallet
  const { recordId: bob } = await issueSdJwtTo(wallet, { keyId: 'key-1', claims: { name: 'Bob' } })
  const dcqlQuery = {
    credentials: [
      credentialQuery({ id: 'age', claims: [{ path: ['age'] }] }),
      credentialQuery({ id: 'names', more: { multiple: true } }),
      credentialQuery({ id: 'bob', claims: [{ path: ['name'], values: ['Bob'] }] }),
    ],
    credential_sets: [{ options: [['age', 'names']] }, { options: [['bob']], required: false }],
  }
  const asking = await requested(wallet, { dcqlQuery })
  const { answer, choice } = await candidatesOf(holder, asking.id)
  expect(choice).toBeUndefined()
  expect(answer).toEqual([
    { credentialId: 'age', recordId: wallet.sdJwtId },
    { credentialId: 'names', recordId: bob },
  ])
  const { verified } = await presented(wallet, asking, { proofId: [wallet.sdJwtId, bob] })
  expect(verified.openid4vp!.credentials!.map(({ credentialId, claims }) => [credentialId, claims])).toEqual([
    ['age', { age: 30 }],
    ['names', { name: 'Bob' }],
    ['names', { name: 'Alice' }],
    ['bob', { name: 'Bob' }],
  ])
})

test('a request that the holder declines ends with access_denied', async () => {
  const { asked, id } = await requested(wallet)
  await act(wallet.holder, id, { action: 'request-reject' })
  expect(
    await inState(wallet.verifier.tenant.call, asked.presentationId, 'ProblemReportReceived'),
  ).toMatchObject({
    metaLastFailure: { type: 'access_denied' },
  })
  expect(await inState(wallet.holder.call, id, 'RequestRejected')).toBeDefined()
})

test('a request that no credential answers says why', async () => {
  const types = ['https://credentials.example/passport']
  const { id, asked } = await requested(wallet, { dcqlQuery: { credentials: [credentialQuery({ types })] } })
  const found = await candidatesOf(wallet.holder, id)
  expect(found.candidates).toEqual([])
  expect(found.others.find(({ recordId }) => recordId === wallet.sdJwtId)).toMatchObject({
    reason: expect.stringContaining('meta.vct_values'),
  })
  expect(await refusal(act(wallet.holder, id, { action: 'request-accept' }))).toMatchObject({
    status: 400,
    detail: expect.stringContaining('No credentials of this wallet answer the request'),
  })
  expect((await presentationOf(wallet.verifier, asked.presentationId)).status).toBe('RequestCreated')
})

test('a request is received once, and answered once', async () => {
  const asked = await requestProof(wallet.verifier, { dcqlQuery: { credentials: [credentialQuery()] } })
  const url = asked.openid4vp!.authorizationRequest
  const [first, second] = [await receive(wallet.holder, url), await receive(wallet.holder, url)]
  expect(second.presentationId).toBe(first.presentationId)
  await presented(wallet, { asked, id: first.presentationId })
  expect(await refusal(receive(wallet.holder, url))).toMatchObject({
    status: 409,
    detail: expect.stringContaining(first.presentationId),
  })
})

test('an acceptance after the request has expired ends the record with the reason', async () => {
  await using other = await openVerifier()
  // Within the leeway for clocks, a wallet still receives the request.
  const exp = Math.floor(Date.now() / 1_000) - 1
  const { presentationId } = await receive(wallet.holder, other.offer(other.sign({ exp })))
  const late = act(wallet.holder, presentationId, { action: 'request-accept' })
  expect(await refusal(late)).toMatchObject({ status: 409, detail: expect.stringContaining('has expired') })
  expect(await inState(wallet.holder.call, presentationId, 'RequestExpired')).toMatchObject({
    metaLastFailure: { title: 'Request Expired' },
  })
  expect(other.responses).toEqual([])
})
