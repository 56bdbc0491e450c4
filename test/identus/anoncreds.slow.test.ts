/**
 * The stock Identus SDK as holder of AnonCreds, over plain HTTP, against this agent. Known limitations of SDK
 * 7.0.0: it fetches schemas and definitions by URL, only over HTTP. It presents one credential, and reveals
 * every requested attribute. It labels its messages as the specification says, unlike the Cloud Agent.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { Domain } from '@hyperledger/identus-sdk'
import { startAgent } from '../support/agent.ts'
import { claims, publishDefinition } from '../credentials/anoncreds/_definition.ts'
import { credentialIn, newDid, presentationIn } from '../support/tenants.ts'
import { startHolder } from './_holder.ts'
import { loadCommonJs } from './_sdk.ts'
import { answerOffer, answerRequest, connect, keepCredential } from './_steps.ts'
import { untilEnd } from '../support/shared.ts'

vi.spyOn(console, 'warn').mockImplementation(() => undefined)
const commonJs = loadCommonJs()
const { sdk } = commonJs
const { ProtocolType } = sdk

let credential: Domain.Credential
vi.spyOn(console, 'log').mockImplementation(() => undefined)
const agent = await untilEnd(startAgent())
const issuer = await agent.newTenant('issuer')
const published = await publishDefinition(agent, issuer, (await newDid(issuer, 'assertionMethod')).did)
const holder = await untilEnd(startHolder(`${agent.url}/dids/`, undefined, commonJs))
holder.agent.plugins.register(commonJs.anoncreds.plugin)
const connectionId = (await connect(holder, issuer)).connectionId
beforeEach(() => void vi.spyOn(console, 'log').mockImplementation(() => undefined))
afterEach(() => void vi.restoreAllMocks())

const age = (p_value: number) => ({
  adult: { name: 'age', p_type: '>=' as const, p_value, restrictions: [] },
})

/** Requests a name and a predicate. Returns the request as the wallet received it. */
async function ask(change: object = {}) {
  const anoncredPresentationRequest = {
    name: 'check',
    version: '1.0',
    requested_attributes: {
      who: {
        name: 'Given Name',
        restrictions: [{ cred_def_id: published.credDefId, issuer_did: published.issuingDID }],
      },
    },
    requested_predicates: age(18),
    ...change,
  }
  const body = { connectionId, credentialFormat: 'AnonCreds' as const, anoncredPresentationRequest }
  const { thid } = await issuer.call('POST /present-proof/presentations', { body })
  return { thid, request: await holder.next(ProtocolType.DidcommRequestPresentation) }
}

test('the wallet receives a credential and verifies it', async () => {
  const { thid } = await issuer.call('POST /issue-credentials/credential-offers', {
    body: {
      connectionId,
      credentialFormat: 'AnonCreds',
      credentialDefinitionId: published.guid,
      claims,
      automaticIssuance: true,
    },
  })
  await answerOffer(holder.agent, await holder.next(ProtocolType.DidcommOfferCredential), sdk)
  credential = await keepCredential(holder.agent, await holder.next(ProtocolType.DidcommIssueCredential), sdk)
  await credentialIn(issuer.call, thid, 'CredentialSent')
  expect(Object.assign({}, ...credential.claims)).toMatchObject({
    age: { raw: '30' },
    'Given Name': { raw: 'Alice' },
  })
})

test('the wallet proves an attribute and a predicate, but not an unsatisfied predicate', async () => {
  const good = await ask()
  await answerRequest(holder.agent, good.request, credential, sdk)
  const { disclosedClaims } = await presentationIn(issuer.call, good.thid, 'PresentationVerified')
  expect(disclosedClaims).toEqual({ 'Given Name': 'Alice' })

  const bad = await ask({ requested_predicates: age(31) })
  await expect(answerRequest(holder.agent, bad.request, credential, sdk)).rejects.toThrow()
})

test('a replayed proof is refused, and the wallet gets a problem report', async () => {
  const plain = { requested_predicates: {} }
  const [first, second] = [await ask(plain), await ask(plain)]
  const presentation = await holder.agent.createPresentationForRequestProof(
    sdk.RequestPresentation.fromMessage(first.request),
    credential,
  )
  const replayed = presentation.makeMessage()
  const { body, attachments, from, to } = sdk.Presentation.fromMessage(replayed)
  await holder.agent.sendMessage(new sdk.Presentation(body, attachments, from, to, second.thid).makeMessage())
  const { metaLastFailure } = await presentationIn(issuer.call, second.thid, 'PresentationVerificationFailed')
  expect(metaLastFailure!.detail).toMatch(/for another request/)
  expect(await holder.next(ProtocolType.ProblemReporting)).toMatchObject({ pthid: second.thid })
})
