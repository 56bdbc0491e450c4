/** A new credential format needs one file, a row of names, and a row in the table of formats. */
import { readdirSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startAgent, type TestAgent } from '../../support/agent.ts'
import type { built } from '../../support/built.ts'
import { loadWith, type Overlay, withRow } from '../../support/overlay.ts'
import { newDid, presentationIn, publishSchema, receive } from '../../support/tenants.ts'
import { prove, requestProof, startConnected } from '../../flows/_steps.ts'
import { addIssuer, offer } from '../../exchange/oid4vci/_wallet.ts'
import { acceptRequest } from '../../exchange/oid4vp/holder/_holder.ts'
import { until } from '../../support/tenants.ts'

const names = `
  TOY: {
    title: 'Toy',
    summary: 'Toy (for tests)',
    flag: 'toy',
    properties: 'toyPropertiesV1',
    attachments: ['toy/v1'],
    definition: ['toy'],
    form: 'binary data in base64url, such as an mdoc',
    isSelective: false,
    openid: {
      id: 'toy',
      typeMember: 'vct_values',
      configurationMember: 'vct',
      anyType: 'urn:toy:any',
      claimsRoot: ['toy'],
      claimDepth: 1,
      hasCertificates: false,
      ...ofDidsAndJwks,
      needsCertificate: false,
      isBoundToDid: true,
      hasKeyBinding: false,
      algorithmMembers: ['alg_values'],
      algorithms: [],
    },
  },
`

/** The two tables with the format in `toy/`. */
const overlay: Overlay = {
  'src/definitions/format-names.ts': (text) => withRow(text, 'export const formatNames = {', names),
  'src/credentials/formats/index.ts': (text) =>
    `import { toy } from '${resolve('test/credentials/formats/toy/format.ts')}'\n` +
    withRow(text, 'Record<TokenFormat, Format>> = {', ' TOY: toy,'),
}

let program: Awaited<ReturnType<typeof loadWith>>
let agent: TestAgent
let pair: Awaited<ReturnType<typeof startConnected>>

beforeAll(async () => {
  program = await loadWith(
    `export * from './daemon/bundle.ts'
     export { default as offer } from './commands/credential/offer.ts'
     export { default as configure } from './commands/issuer/configuration/add.ts'`,
    overlay,
  )
  agent = await startAgent({}, { parts: program.parts as typeof built })
  pair = await startConnected({}, 'secp256k1', () => Promise.resolve(agent))
})
afterAll(async () => {
  await agent[Symbol.asyncDispose]()
  program.dispose()
})

test('the seam: one file of the format, two tables with a row each', () => {
  expect(readdirSync('test/credentials/formats/toy')).toHaveLength(1)
  expect(Object.keys(overlay)).toHaveLength(2)
})

const claims = { name: 'Alice' }

/** Issues over DIDComm. Returns the holder's record id. */
async function issue() {
  const { issuer, holder, connectionId, issuingDID, subjectId } = pair
  const body = { connectionId, issuingDID, claims, credentialFormat: 'TOY' as never, automaticIssuance: true }
  const offered = await issuer.call('POST /issue-credentials/credential-offers', { body })
  return receive(holder, offered, { subjectId })
}

test('over DIDComm: issued, held, presented and verified, with each check by name', async () => {
  const { issuer, holder, connectionId, issuingDID } = pair
  const { recordId, issuerRecordId } = await issue()
  const path = { recordId }
  expect(await holder.call('GET /issue-credentials/records/{recordId}/credential', { path })).toMatchObject({
    credentialFormat: 'TOY',
    claims,
    schemas: ['urn:toy:any'],
    standing: { status: 'not-revoked' },
  })
  const body = { connectionId, credentialFormat: 'TOY', proofs: [], issuers: [issuingDID] }
  const { presentationId, thid } = await requestProof(issuer, holder, body)
  await prove(holder, presentationId, recordId)
  const { verification } = await presentationIn(issuer.call, thid, 'PresentationVerified')
  expect(verification?.credentials).toMatchObject([{ format: 'toy', claims: { toy: claims } }])
  const passed = [
    'form',
    'audience',
    'nonce',
    'time',
    'trust',
    'validity',
    'holder-binding',
    'signature',
    'status',
  ]
  expect(verification?.checks).toEqual(passed.map((name) => ({ name, result: 'passed' })))

  await issuer.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: issuerRecordId } })
  const again = await requestProof(issuer, holder, body)
  await prove(holder, again.presentationId, recordId)
  const refused = await presentationIn(issuer.call, again.thid, 'PresentationVerificationFailed')
  expect(refused.verification?.checks?.at(-1)).toMatchObject({ name: 'status', result: 'failed' })
})

test('over OpenID4VC: offered, received, and presented by a query', async () => {
  const issuer = await addIssuer(agent, pair.issuer)
  const schemaId = await publishSchema(pair.issuer, pair.issuingDID, { name: 'toy' })
  await pair.issuer.call('POST /oid4vci/issuers/{issuerId}/credential-configurations', {
    path: { issuerId: issuer.issuerId },
    body: { configurationId: 'Toy', format: 'toy' as never, schemaId, vct: 'urn:toy:person' },
  })
  const { credentialOffer } = await offer(issuer, { credentialConfigurationId: 'Toy', claims })
  const { call } = pair.holder
  const { recordId } = await call('POST /issue-credentials/records/openid4vci', { body: { credentialOffer } })
  const path = { recordId }
  await call('POST /issue-credentials/records/{recordId}/accept-offer', { path, body: {} })
  await until(
    'the credential',
    () => call('GET /issue-credentials/records/{recordId}', { path }),
    ({ protocolState }) => protocolState === 'CredentialReceived',
  )

  const { longFormDid: did } = await newDid(pair.issuer, 'authentication')
  const meta = { vct_values: ['urn:toy:person'] }
  const query = { id: 'toy', format: 'toy', meta, claims: [{ path: ['toy', 'name'], values: ['Alice'] }] }
  const asked = await pair.issuer.call('POST /present-proof/presentations/openid4vp', {
    body: { did, issuers: [issuer.issuingDID], dcqlQuery: { credentials: [query] } },
  })
  await acceptRequest(pair, asked.openid4vp!.authorizationRequest)
  const { openid4vp } = await presentationIn(pair.issuer.call, asked.thid, 'PresentationVerified')
  expect(openid4vp?.credentials).toMatchObject([
    { credentialId: 'toy', format: 'toy', claims: { toy: claims } },
  ])
})

test('the verification API and the command line know it', async () => {
  const { credential } = await issue()
  const verifications = [{ verification: 'SignatureVerification' as const }]
  const checked = await pair.issuer.call('POST /verification/credential', {
    body: [{ credential, verifications }],
  })
  expect(checked[0]!.result).toMatchObject([{ success: true }])
  const forged = `${credential.slice(0, -4)}AAAA`
  const other = await pair.issuer.call('POST /verification/credential', {
    body: [{ credential: forged, verifications }],
  })
  expect(other[0]!.result).toMatchObject([{ success: false }])
  const { offer: command, configure } = program.parts as any
  expect(command.flags.format.options).toContain('toy')
  expect(configure.flags.format.options).toContain('toy')
})
