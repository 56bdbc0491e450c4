/**
 * The stock Identus SDK as the wallet of the enterprise suite: it sends a DID, and its key signs a challenge.
 * Known limitations of SDK 7.0.0: it sends JSON as `text/plain`, requires status 200, does not store the
 * requester, and does not support challenges. So the test signs the challenge with the SDK's key.
 */
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { startAgent } from '../support/agent.ts'
import { ask } from '../support/ask.ts'

import { startHolder } from './_holder.ts'
import { sdk } from './_sdk.ts'
import { untilEnd } from '../support/shared.ts'

const agent = await untilEnd(startAgent())
const holder = await untilEnd(startHolder(`${agent.url}/dids/`))
beforeEach(() => void vi.spyOn(console, 'log').mockImplementation(() => undefined))
afterEach(() => void vi.restoreAllMocks())

test('it answers a DID request with a new DID, and the signature of its Ed25519 key over a challenge verifies', async () => {
  const request = await agent.tenant('POST /onboard/did-requests', { body: { from: 'Acme' } })
  const invitation = await holder.agent.parsePrismInvitation(JSON.stringify(request.didRequest))
  await holder.agent.acceptInvitation(invitation)
  const known = await agent.tenant('GET /onboard/did-requests/{didRequestId}', {
    path: { didRequestId: request.id },
  })
  expect(known).toMatchObject({ state: 'success', did: expect.stringMatching(/^did:peer:2\./) })
  // A second answer is refused, and the SDK reports it.
  await expect(holder.agent.acceptInvitation(invitation)).rejects.toThrow()

  const { id, challenge } = await agent.tenant('POST /did-authentication/challenges', {
    body: { from: 'Acme' },
  })
  const did = sdk.Domain.DID.from(known.did!)
  const { value } = await holder.agent.signWith(did, Buffer.from(challenge.nonce))
  const body = { did: known.did, signature: Buffer.from(value).toString('base64url') }
  expect(
    await ask(agent, `POST ${challenge.submissionEndpoint}`, { body, type: 'text/plain;charset=UTF-8' }),
  ).toMatchObject({
    status: 200,
  })
  const signedIn = await agent.tenant('GET /did-authentication/challenges/{challengeId}', {
    path: { challengeId: id },
  })
  expect(signedIn).toMatchObject({ state: 'success', did: known.did })
})
