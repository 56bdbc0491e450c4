/**
 * Issue, present, revoke, present again: between two agents with a shared ledger, in every format, with DIDs
 * of several kinds.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { decodeProtectedHeader } from 'jose'
import { afterAll, expect, test } from 'vitest'
import { isOverDidComm, type TokenFormat, tokenFormats } from '../../src/definitions/format-names.ts'
import { startAgent, type TestAgent } from '../support/agent.ts'
import { connect, credentialIn, newDid, presentationIn, until, type Tenant } from '../support/tenants.ts'
import { acceptOfferWith, prove, readCredential, requestProof } from './_steps.ts'

const folder = mkdtempSync(join(tmpdir(), 'identity-agent-'))

const shared = { VDR_URL: `sqlite:${join(folder, 'vdr.db')}` }
const agents = [await startAgent(shared), await startAgent(shared)]
const [home, away] = agents as [TestAgent, TestAgent]
const issuer = await home.newTenant('issuer')
const [holder, verifier] = [await away.newTenant('holder'), await away.newTenant('verifier')]
const offers = (await connect(issuer, holder)).inviterConnectionId
const asks = (await connect(verifier, holder)).inviterConnectionId
afterAll(async () => {
  await Promise.all(agents.map((agent) => agent[Symbol.asyncDispose]()))
  rmSync(folder, { recursive: true, force: true })
})

/** The verifier requests the credential, and the holder presents it. */
async function present(credentialFormat: TokenFormat, recordId: string, end: string) {
  const claims = credentialFormat === 'SDJWT' ? { claims: { name: '' } } : {}
  const { thid, presentationId } = await requestProof(verifier, holder, {
    connectionId: asks,
    credentialFormat,
    ...claims,
  })
  await prove(holder, presentationId, recordId)
  return presentationIn(verifier.call, thid, end)
}

/** Creates a DID with one key. The default id of the key is `key-1`. */
type Create = (tenant: Tenant, purpose: 'authentication' | 'assertionMethod') => Promise<string>

const dids: [name: string, alg: string, create: Create][] = [
  ['did:prism, Ed25519', 'EdDSA', async (tenant, purpose) => (await newDid(tenant, purpose, 'Ed25519')).did],
  [
    'did:web, P-256',
    'ES256',
    async ({ call }, purpose) => {
      const documentTemplate = { publicKeys: [{ id: 'key-1', purpose, curve: 'P-256' as const }] }
      const body = { method: 'web' as const, documentTemplate }
      return (await call('POST /did-registrar/dids', { body })).longFormDid
    },
  ],
]

for (const [method, curve, alg] of [
  ['key', 'P-256', 'ES256'],
  ['jwk', 'P-256', 'ES256'],
  ['key', 'Ed25519', 'EdDSA'],
] as const)
  dids.push([
    `did:${method}, ${curve}`,
    alg,
    async ({ call }) =>
      (await call('POST /did-registrar/dids', { body: { method, curve, documentTemplate: {} } })).longFormDid,
  ])

/** The id of the only key of a DID. */
function keyIdOf(did: string): string {
  if (did.startsWith('did:key:')) return did.slice('did:key:'.length)
  return did.startsWith('did:jwk:') ? '0' : 'key-1'
}

const cases = dids.flatMap(([name, alg, create]) =>
  tokenFormats
    .filter(isOverDidComm)
    .flatMap((format) => [
      [name, alg, format, 'any key', create] as const,
      [name, alg, format, 'a named key', create] as const,
    ]),
)
test.each(cases)(
  '%s signs with %s: %s, accepted with %s, is valid until its revocation',
  async (_name, alg, credentialFormat, wanted, create) => {
    const issuingDID = await create(issuer, 'assertionMethod')
    const subjectId = await create(holder, 'authentication')
    const offer = await issuer.call('POST /issue-credentials/credential-offers', {
      body: {
        connectionId: offers,
        credentialFormat,
        issuingDID,
        claims: { name: 'Alice' },
        automaticIssuance: true,
      },
    })
    const { recordId } = await credentialIn(holder.call, offer.thid, 'OfferReceived')
    const keyId = wanted === 'a named key' ? keyIdOf(subjectId) : undefined
    await acceptOfferWith(holder, recordId, { subjectId, keyId })
    const { credential } = await credentialIn(holder.call, offer.thid, 'CredentialReceived')
    const [jwt] = Buffer.from(credential!, 'base64url').toString().split('~')
    expect(decodeProtectedHeader(jwt!)).toMatchObject({ alg })
    const { disclosedClaims } = await present(credentialFormat, recordId, 'PresentationVerified')
    expect(disclosedClaims).toEqual(credentialFormat === 'SDJWT' ? { name: 'Alice' } : undefined)

    await issuer.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: offer.recordId } })
    await until(
      'the revocation notice',
      () => readCredential(holder, recordId),
      ({ revoked }) => revoked === true,
    )
    const refused = await until(
      'the revocation at the verifier',
      () => present(credentialFormat, recordId, 'PresentationVerificationFailed'),
      ({ metaLastFailure }) => metaLastFailure !== undefined,
    )
    expect(refused.metaLastFailure!.detail).toMatch(/revoked/)
    expect(refused).not.toHaveProperty('disclosedClaims')
  },
)
