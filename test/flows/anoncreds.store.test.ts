/** Issuing and presenting AnonCreds between two agents. */
import { expect, test } from 'vitest'
import { startAgent } from '../support/agent.ts'
import { claims, publishDefinition } from '../credentials/anoncreds/_definition.ts'
import { testOnSqlite } from '../support/on-sqlite.ts'
import { connect, credentialIn, newDid, presentationIn } from '../support/tenants.ts'
import { acceptOfferWith, actOnProof, expectRefusal, issueRequested } from './_steps.ts'
import { untilEnd } from '../support/shared.ts'

const [here, there] = await Promise.all([untilEnd(startAgent()), untilEnd(startAgent())])
const issuer = await here.newTenant('issuer')
const holder = await there.newTenant('holder')
const connectionId = (await connect(issuer, holder)).inviterConnectionId
const published = await publishDefinition(here, issuer, (await newDid(issuer, 'assertionMethod')).did)

/** Offers, accepts and issues a credential. */
async function issue(change: object = {}) {
  const body = {
    connectionId,
    credentialFormat: 'AnonCreds' as const,
    credentialDefinitionId: published.guid,
    claims,
    ...change,
  }
  const offer = await issuer.call('POST /issue-credentials/credential-offers', { body })
  const { recordId } = await credentialIn(holder.call, offer.thid, 'OfferReceived')
  await acceptOfferWith(holder, recordId, {})
  return { offer, recordId }
}

test('a credential is offered, requested, issued manually and stored; a proof reveals one attribute and proves one predicate', async () => {
  const { offer, recordId } = await issue()
  expect(offer).toMatchObject({
    credentialFormat: 'AnonCreds',
    claims,
    issuingDID: published.issuingDID,
    protocolState: 'OfferPending',
  })
  await credentialIn(issuer.call, offer.thid, 'RequestReceived')
  await issueRequested(issuer, offer.recordId)
  const kept = await credentialIn(holder.call, offer.thid, 'CredentialReceived')
  expect(kept).toMatchObject({ recordId, claims, credentialFormat: 'AnonCreds' })
  expect(JSON.parse(Buffer.from(kept.credential!, 'base64url').toString())).toMatchObject({
    schema_id: published.schemaId,
    cred_def_id: published.credDefId,
    values: { age: { raw: '30', encoded: '30' } },
  })

  const asked = await issuer.call('POST /present-proof/presentations', {
    body: {
      connectionId,
      credentialFormat: 'AnonCreds',
      anoncredPresentationRequest: {
        name: 'age check',
        version: '1.0',
        nonce: '1234567890',
        requested_attributes: {
          who: { name: 'Given Name', restrictions: [{ cred_def_id: published.credDefId }] },
        },
        requested_predicates: { adult: { name: 'age', p_type: '>=', p_value: 18, restrictions: [] } },
      },
    },
  })
  const { presentationId } = await presentationIn(holder.call, asked.thid, 'RequestReceived')
  await actOnProof(holder, presentationId, {
    action: 'request-accept',
    anoncredPresentationRequest: {
      credentialProofs: [
        { credential: recordId, requestedAttribute: ['who'], requestedPredicate: ['adult'] },
      ],
    },
  })
  const verified = await presentationIn(issuer.call, asked.thid, 'PresentationVerified')
  expect(verified.disclosedClaims).toEqual({ 'Given Name': 'Alice' })
})

testOnSqlite('an attribute with a predicate about it is kept back, or the call is refused', async () => {
  const { offer, recordId } = await issue({ automaticIssuance: true })
  await credentialIn(holder.call, offer.thid, 'CredentialReceived')
  const asked = await issuer.call('POST /present-proof/presentations', {
    body: {
      connectionId,
      credentialFormat: 'AnonCreds',
      anoncredPresentationRequest: {
        name: 'age',
        version: '1.0',
        requested_attributes: { age: { name: 'age', restrictions: [] } },
        requested_predicates: { adult: { name: 'age', p_type: '>=', p_value: 18, restrictions: [] } },
      },
    },
  })
  const { presentationId } = await presentationIn(holder.call, asked.thid, 'RequestReceived')
  const answer = (credentialProofs?: object[]) =>
    actOnProof(holder, presentationId, {
      action: 'request-accept',
      ...(credentialProofs
        ? { anoncredPresentationRequest: { credentialProofs } }
        : { proofId: [recordId], credentialFormat: 'AnonCreds' }),
    })
  const reason = 'name age in unrevealedAttribute, or decline'
  const proof = { credential: recordId, requestedPredicate: ['adult'] }
  await expectRefusal(answer(), 400, reason)
  await expectRefusal(answer([{ ...proof, requestedAttribute: ['age'] }]), 400, reason)
  await answer([{ ...proof, requestedAttribute: [], unrevealedAttribute: ['age'] }])
  expect((await presentationIn(issuer.call, asked.thid, 'PresentationVerified')).disclosedClaims).toEqual({})
})
