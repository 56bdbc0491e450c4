/**
 * The record of a proof over DIDComm lists each check by name, also those that were skipped after the first
 * fault.
 */
import { expect, test } from 'vitest'
import { generateKey, toPublic } from '../../src/foundation/crypto/keys.ts'
import { issueJwtVc } from '../../src/credentials/codecs/jwt-vc.ts'
import { createJwtVp } from '../../src/credentials/codecs/jwt-vp.ts'
import { createJwkDid } from '../../src/did/jwk.ts'
import { base64Attachment } from '../../src/exchange/didcomm/message.ts'
import { sharedAgent } from '../support/agent.ts'
import { openParty, typesOf } from '../support/party.ts'
import { presentationIn } from '../support/tenants.ts'

const now = () => Math.floor(Date.now() / 1_000)
const [issuerKey, holderKey] = [generateKey('P-256'), generateKey('P-256')]
const holderDid = createJwkDid(toPublic(holderKey))
const credential = issueJwtVc({
  issuerDid: createJwkDid(toPublic(issuerKey)),
  issuerKey,
  subjectDid: holderDid,
  claims: { name: 'Alice' },
  schemas: [],
  now: now() - 3_600,
})
const options = { challenge: 'a challenge of this test', domain: 'https://verifier.example' }

test.each([
  ['before the request', -60, 'PresentationVerificationFailed', ['failed', 'skipped']],
  ['after the request', 0, 'PresentationVerified', ['passed', 'passed']],
] as const)('a presentation that was made %s', async (_, offset, state, [time, later]) => {
  const agent = await sharedAgent()
  const verifier = await agent.newTenant()
  await using party = await openParty()
  const { connectionId, theirDid } = await party.connect(verifier)
  const { thid } = await verifier.call('POST /present-proof/presentations', {
    body: { connectionId, options, proofs: [] },
  })
  await party.next(typesOf.presentationRequest)
  const { domain: audience, challenge: nonce } = options
  const presentation = createJwtVp({
    holderDid,
    holderKey,
    audience,
    nonce,
    credentials: [credential],
    now: now() + offset,
  })
  const type = typesOf.presentationRequest.replace('request-', '')
  const attachments = [base64Attachment('1', Buffer.from(presentation), 'prism/jwt')]
  await party.send(theirDid, { type, thid, body: {}, attachments })
  const { verification, metaLastFailure } = await presentationIn(verifier.call, thid, state)
  expect(verification!.checks!.map(({ name, result }) => [name, result])).toEqual([
    ['form', 'passed'],
    ['audience', 'passed'],
    ['nonce', 'passed'],
    ['time', time],
    ['validity', later],
    ['holder-binding', later],
    ['signature', later],
    ['status', later],
  ])
  if (time === 'failed') expect(metaLastFailure!.detail).toBe('The presentation was made before the request')
  else expect(verification!.credentials).toMatchObject([{ holder: holderDid, claims: { name: 'Alice' } }])
})
