/** The trace of an issuance shows refused requests of a wallet with the error that the wallet got. */
import { expect, test } from 'vitest'
import { generateKey } from '../../../src/foundation/crypto/keys.ts'
import { offer, prove, redeemOffer, request, startIssuer } from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const setup = await untilEnd(startIssuer())

const traceOf = (id: string) => setup.tenant.call('GET /traces/{id}', { path: { id } })

/** Formats the states and the refused requests of a trace. */
async function wordsOf(id: string): Promise<string[]> {
  const { steps } = await traceOf(id)
  return steps.flatMap((step) => {
    if (step.kind === 'state') return step.to ?? []
    return step.kind === 'message' ? `${step.type} ${step.outcome}: ${step.failure}` : []
  })
}

test('wrong transaction codes and proofs, until the credential is issued', async () => {
  const { credentialOffer, recordId, txCode } = await offer(setup, { txCode: true })
  await redeemOffer(setup, credentialOffer)
  await redeemOffer(setup, credentialOffer, 'wrong')
  expect((await traceOf(recordId)).records).toMatchObject([
    { failure: 'A wrong transaction code was sent. 4 guesses are left.' },
  ])
  const { body } = await redeemOffer(setup, credentialOffer, txCode)
  const token: string = body.access_token
  await redeemOffer(setup, credentialOffer, txCode)
  await request(setup, { token, jwt: await prove(setup, { claims: { aud: 'https://elsewhere.example' } }) })
  await request(setup, { token, jwt: await prove(setup, { signer: generateKey('Ed25519') }) })
  expect((await traceOf(recordId)).records).toMatchObject([
    { failure: 'The proof is not accepted: the key in its jwk did not make the signature' },
  ])
  expect((await request(setup, { token, jwt: await prove(setup) })).status).toBe(200)
  expect((await request(setup, { token, jwt: await prove(setup) })).status).toBe(400)
  expect(await wordsOf(recordId)).toEqual([
    'OfferCreated',
    'token-request refused: invalid_request: tx_code is missing: the offer requires a transaction code.',
    'token-request refused: invalid_grant: The transaction code is wrong.',
    'OfferRedeemed',
    expect.stringMatching(/^token-request refused: invalid_grant: .* was used/),
    `credential-request refused: invalid_proof: The proof is not accepted: its aud is not ${setup.identifier}`,
    'credential-request refused: invalid_proof: The proof is not accepted: the key in its jwk did not make the signature',
    // What comes after the end is not logged.
    'CredentialSent',
  ])
  const { records, pending } = await traceOf(recordId)
  expect(pending).toEqual([])
  expect(records[0]).not.toHaveProperty('failure')
})

test('the last wrong transaction code blocks the offer', async () => {
  const { credentialOffer, recordId } = await offer(setup, { txCode: true })
  for (let guess = 0; guess < 5; guess++) await redeemOffer(setup, credentialOffer, 'wrong')
  const words = await wordsOf(recordId)
  expect(words.filter((each) => each.startsWith('token-request refused: invalid_grant'))).toHaveLength(5)
  expect(words).toContain('OfferBlocked')
})
