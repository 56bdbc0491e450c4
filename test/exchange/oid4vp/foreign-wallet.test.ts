/** A wallet of others, of the OpenWallet Foundation's library, answers requests. */
import { expect, test } from 'vitest'
import { askedDigitally, shop, submit } from './_digital.ts'
import { answer, answerDigitally } from './_foreign-wallet.ts'
import { newVerifierDid, presentationOf, requestProof, startVerifier } from './_wallet.ts'
import { untilEnd } from '../../support/shared.ts'

const verifier = await untilEnd(startVerifier())
const did = await newVerifierDid(verifier)

test.each([
  ['redirect_uri', 'direct_post'],
  ['decentralized_identifier', 'direct_post'],
  ['decentralized_identifier', 'direct_post.jwt'],
] as const)('%s, %s', async (expected, responseMode) => {
  const signer = expected === 'redirect_uri' ? {} : { did }
  const { presentationId, openid4vp } = await requestProof(verifier, { responseMode, ...signer })
  const { prefix, response } = await answer(openid4vp!.authorizationRequest)
  expect([prefix, response.status]).toEqual([expected, 200])
  const record = await presentationOf(verifier, presentationId)
  expect(record.status).toBe('PresentationVerified')
  expect(record.openid4vp!.credentials).toMatchObject([{ claims: { name: 'Alice' } }])
})

test.each([
  ['origin', 'dc_api'],
  ['origin', 'dc_api.jwt'],
  ['decentralized_identifier', 'dc_api'],
  ['decentralized_identifier', 'dc_api.jwt'],
] as const)('Digital Credentials API: %s, %s', async (expected, responseMode) => {
  const signer = expected === 'origin' ? {} : { did }
  const asked = await askedDigitally(verifier, { responseMode, ...signer })
  const { prefix, data } = await answerDigitally(asked.openid4vp.digitalRequest!.data, shop)
  expect(prefix).toBe(expected)
  expect(data).toHaveProperty(responseMode === 'dc_api' ? 'vp_token' : 'response')
  expect((await submit(verifier, asked, data)).body.status).toBe('PresentationVerified')
})
