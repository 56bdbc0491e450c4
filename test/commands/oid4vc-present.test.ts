/** `agent oid4vc present`: two daemons and their commands only, and the consent of the person. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { issueSdJwtTo } from '../flows/_sd-jwt.ts'
import { claims, credentialQuery } from '../exchange/oid4vp/holder/_holder.ts'
import { newVerifierDid } from '../exchange/oid4vp/_wallet.ts'
import { connect, newDid, startDaemonPair } from '../support/tenants.ts'
import { hasScript, newUser, words } from './_cli.ts'
import { untilEnd } from '../support/shared.ts'

const user = newUser()
const pair = await untilEnd(startDaemonPair())
const { acme, alice, issuer, holder: tenant } = pair
const holderEnv = { AGENT_URL: alice.url, AGENT_API_KEY: tenant.apiKey }
const verifier = user.as({ AGENT_URL: acme.url, AGENT_API_KEY: issuer.apiKey })
const holder = user.as(holderEnv)
const { inviterConnectionId: connectionId } = await connect(issuer, tenant)
const { did: issuingDID } = await newDid(issuer, 'assertionMethod', 'Ed25519')
const { did: subjectId } = await newDid(tenant, 'authentication', 'Ed25519')
const holding = { issuer, holder: tenant, connectionId, issuingDID, subjectId }
const recordId = (await issueSdJwtTo(holding, { keyId: 'key-1', claims })).recordId
const file = join(user.folder, 'query.json')
writeFileSync(file, JSON.stringify({ credentials: [credentialQuery()] }))
const asking = words`proof request --oid4vp --any-issuer --dcql ${file}`
afterAll(async () => {
  user.remove()
})

const asked = () => verifier.json(asking)
const stateOf = async ({ presentationId }: { presentationId: string }) =>
  (await verifier.json`proof show ${presentationId}`).status as string

test('the command shows verifier, trust and claims, explains its steps, and presents', async () => {
  const did = await newVerifierDid({ tenant: pair.issuer })
  const request = await verifier.json`${asking} --signing-did ${did} --encrypt`
  const { code, out, err } =
    await holder.run`oid4vc present ${request.openid4vp.authorizationRequest} --yes --explain`
  expect([code, out]).toEqual([0, expect.stringContaining('PresentationSent')])
  expect(err).toContain(`decentralized_identifier:${did}`)
  expect(err).toContain('NOT trusted')
  expect(err).toContain(`discloses  name of the credential ${recordId}`)
  expect(err).toMatch(/request_uri: POST http\S+: 200/)
  expect(err).toMatch(/response: POST http\S+: 200/)
  expect(await stateOf(request)).toBe('PresentationVerified')
})

test('without a terminal, --yes is required; standard input has the request', async () => {
  const request = await asked()
  const url = request.openid4vp.authorizationRequest as string
  const refused = await holder.run(words`oid4vc present -`, { input: url })
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('--yes')])
  expect(await stateOf(request)).toBe('RequestCreated')
  const { status, proofId: _ } = await holder.json(words`oid4vc present - --yes --credential ${recordId}`, {
    input: `${url}\n`,
  })
  expect(status).toBe('PresentationSent')
  expect(await stateOf(request)).toBe('PresentationVerified')
})

test('the time to wait is that of --timeout', async () => {
  const url = (await asked()).openid4vp.authorizationRequest as string
  const refused = await holder.run`oid4vc present ${url} --yes --timeout soon`
  expect([refused.code, refused.err]).toEqual([
    2,
    expect.stringContaining('--timeout "soon" is not a duration'),
  ])
  expect((await holder.run`oid4vc present ${url} --yes --timeout 40s`).code).toBe(0)
})

test.runIf(hasScript())('a person who does not consent declines, and the verifier is told', async () => {
  const request = await asked()
  const url = request.openid4vp.authorizationRequest as string
  const { code, out } = await user.runInTerminal(
    ['oid4vc', 'present', url],
    { columns: 200, rows: 50 },
    holderEnv,
    'n\n',
  )
  expect([code, out]).toEqual([1, expect.stringContaining('Declined')])
  const end = await verifier.run`proof show ${request.presentationId} --wait=ProblemReportReceived`
  expect(end.code === 0 ? end.out : await stateOf(request)).toContain('ProblemReportReceived')
})

test('a request that no credential answers exits with 3', async () => {
  const file = join(user.folder, 'passport.json')
  writeFileSync(file, JSON.stringify({ credentials: [credentialQuery({ types: ['urn:passport'] })] }))
  const { out } = await verifier.run`proof request --oid4vp --any-issuer --dcql ${file}`
  const { code, err } = await holder.run`oid4vc present ${out} --yes`
  expect([code, err]).toEqual([
    3,
    expect.stringContaining('No credentials of this wallet answer the request'),
  ])
  expect(err).toContain('agent proof reject')
})

test('a received request can be answered by the command for all proofs', async () => {
  const request = await asked()
  const refused = await holder.run(words`oid4vc present -`, {
    input: request.openid4vp.authorizationRequest,
  })
  expect(refused.code).toBe(2)
  const list = await holder.json`proof list --state RequestReceived`
  const { presentationId } = (Array.isArray(list) ? list : list.contents).find(
    ({ openid4vpRequest }: any) => openid4vpRequest.clientId === request.openid4vp.clientId,
  )
  const { status } = await holder.json`proof present ${presentationId} --credential ${recordId} --wait`
  expect(status).toBe('PresentationSent')
  expect(await stateOf(request)).toBe('PresentationVerified')
})

test('with --origin, the request is one of the Digital Credentials API, and the answer is printed', async () => {
  const origin = 'https://shop.example'
  const did = await newVerifierDid({ tenant: pair.issuer })
  const asked = await verifier.json`${asking} --dc-api --origin ${origin} --signing-did ${did} --encrypt`
  const { presentationId, openid4vp } = asked
  expect(openid4vp).toMatchObject({ responseMode: 'dc_api.jwt', origins: [origin] })
  const file = join(user.folder, 'request.json')
  writeFileSync(file, JSON.stringify(openid4vp.digitalRequest))
  const wrong = await holder.run`oid4vc present ${file} --origin https://thief.example --yes`
  expect([wrong.code, wrong.out, wrong.err]).toEqual([2, '', expect.stringContaining('expected_origins')])
  const { code, out, err } = await holder.run(words`oid4vc present - --origin ${origin} --yes`, {
    input: JSON.stringify(openid4vp.digitalRequest),
  })
  expect([code, err]).toEqual([0, expect.stringContaining(`decentralized_identifier:${did}`)])
  const body = JSON.parse(out)
  expect(body).toEqual({ protocol: 'openid4vp-v1-signed', data: { response: expect.any(String) } })
  const route = 'POST /present-proof/presentations/{presentationId}/digital-credential'
  await pair.issuer.call(route, { path: { presentationId }, body })
  expect(await stateOf(asked)).toBe('PresentationVerified')
})
