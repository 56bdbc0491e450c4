/**
 * Received requests of OpenID4VP are rows: a daemon that is killed between two steps continues, and presents
 * the same.
 */
import { expect, test } from 'vitest'
import { issueSdJwtTo } from '../../../flows/_sd-jwt.ts'
import { connect, newDid, startDaemonPair } from '../../../support/tenants.ts'
import { act, claims, inState, receive } from './_holder.ts'
import { openVerifier } from './_verifier.ts'

test('a request survives kill -9 after every step, and its response is one', async () => {
  await using pair = await startDaemonPair()
  await using verifier = await openVerifier()
  const { issuer, holder, alice } = pair
  const { inviterConnectionId: connectionId } = await connect(issuer, holder)
  const { did: issuingDID } = await newDid(issuer, 'assertionMethod', 'Ed25519')
  const { did: subjectId } = await newDid(holder, 'authentication', 'Ed25519')
  await issueSdJwtTo({ issuer, holder, connectionId, issuingDID, subjectId }, { keyId: 'key-1', claims })
  const { presentationId } = await receive(holder, verifier.offer(verifier.sign()))
  await alice.crash()
  verifier.script.status = 503
  await act(holder, presentationId, { action: 'request-accept' })
  while (verifier.responses.length === 0) await new Promise((resolve) => setTimeout(resolve, 5))
  await alice.crash()
  verifier.script.status = 200
  const { data } = await inState(holder.call, presentationId, 'PresentationSent')
  const sent = verifier.responses.map((form) => form.get('vp_token')!)
  expect(new Set(sent)).toEqual(new Set([JSON.stringify({ person: data })]))
  // Accepting again changes nothing.
  await act(holder, presentationId, { action: 'request-accept' })
  expect(verifier.responses.length).toBe(sent.length)
})
