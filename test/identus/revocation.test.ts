/**
 * The stock Identus SDK as holder of revoked credentials: it receives and announces the notification, reads
 * the status list and verifies its proof, and a later presentation is refused. Known limitations of SDK
 * 7.0.0: the ES module build cannot load the functions of jsonld in Node, so status lists are checked with
 * the CommonJS build. It refuses every list signed with Ed25519.
 */
import { createRequire } from 'node:module'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { startAgent, type TestAgent } from '../support/agent.ts'
import { credentialIn, newDid, presentationIn } from '../support/tenants.ts'
import { isRevoked } from '../flows/_revocation.ts'
import { startHolder, startSdk } from './_holder.ts'
import { sdk } from './_sdk.ts'
import { answerRequest, ask, connect, issue } from './_steps.ts'

const { ProtocolType } = sdk

let agent: TestAgent
beforeAll(async () => void (agent = await startAgent()))
afterAll(() => agent[Symbol.asyncDispose]())
beforeEach(() => void vi.spyOn(console, 'log').mockImplementation(() => undefined))
afterEach(() => void vi.restoreAllMocks())

/** The result of the SDK's own verification. */
async function checkByWallet(jws: string): Promise<boolean> {
  vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  const commonJs = createRequire(import.meta.url)('@hyperledger/identus-sdk') as typeof sdk
  const wallet = await startSdk(`${agent.url}/dids/`, {}, commonJs)
  try {
    return await wallet.isCredentialRevoked(commonJs.JWTCredential.fromJWS(jws))
  } finally {
    await wallet.stop()
  }
}

test('a wallet of the stock SDK learns that its credential is revoked, from the notification and the status list', async () => {
  await using holder = await startHolder(`${agent.url}/dids/`)
  const issuer = await agent.newTenant('issuer')
  const { did: issuingDID } = await newDid(issuer, 'assertionMethod')
  const { connectionId } = await connect(holder, issuer)
  const { thid, credential } = await issue(holder, issuer, {
    connectionId,
    issuingDID,
    claims: { name: 'Alice' },
    validityPeriod: 3_600,
  })
  const { recordId } = await credentialIn(issuer.call, thid, 'CredentialSent')
  expect(await checkByWallet(credential.id)).toBe(false)
  const accepted = await ask(issuer, connectionId)
  await answerRequest(holder.agent, await holder.next(ProtocolType.DidcommRequestPresentation), credential)
  await presentationIn(issuer.call, accepted.thid, 'PresentationVerified')

  await issuer.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: recordId } })
  expect([await isRevoked(credential.id), await checkByWallet(credential.id)]).toEqual([true, true])
  const notice = await holder.next(ProtocolType.PrismRevocation)
  expect(notice.body).toEqual({ issueCredentialProtocolThreadId: thid })
  const revoked = vi.fn()
  holder.agent.addListener(sdk.ListenerKey.REVOKE, revoked)
  await holder.agent.handle(notice)
  expect(revoked).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ id: credential.id }))
  const refused = await ask(issuer, connectionId)
  await answerRequest(holder.agent, await holder.next(ProtocolType.DidcommRequestPresentation), credential)
  await presentationIn(issuer.call, refused.thid, 'PresentationVerificationFailed')
})
