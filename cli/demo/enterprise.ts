/** The enterprise suite (service §4.7): acme asks for a DID, and later for a signature with it. No event tells of the answers, so acme waits for them. */
import { setTimeout } from 'node:timers/promises'
import type { Client } from '../../daemon/client/client.ts'
import { CommandError } from '../errors/errors.ts'

/** The organisation that asks. */
const from = 'Acme Inc.'
/** Seconds that one call waits. */
const wait = 20

type Asked = { id: string; state: 'pending' | 'success' | 'error'; did?: string | null | undefined }

/** Asks for a DID, has `answer` see to it that the request is answered, and returns the DID. */
export async function onboardPerson(
  acme: Client,
  answer: (didRequest: Record<string, unknown>) => Promise<unknown>,
): Promise<string> {
  const { id, didRequest } = await acme('POST /onboard/did-requests', { body: { from } })
  await answer(didRequest)
  return settled(() =>
    acme('GET /onboard/did-requests/{didRequestId}', { path: { didRequestId: id }, query: { wait } }),
  )
}

/** Asks for a signature, has `answer` see to it that the challenge is answered, and returns who signed in by a token of the agent. */
export async function signIn(
  acme: Client,
  answer: (challenge: Record<string, unknown>) => Promise<unknown>,
): Promise<string> {
  const { id, challenge } = await acme('POST /did-authentication/challenges', { body: { from } })
  await answer(challenge)
  await settled(() =>
    acme('GET /did-authentication/challenges/{challengeId}', { path: { challengeId: id }, query: { wait } }),
  )
  return (
    await acme('POST /did-authentication/challenges/{challengeId}/token', { path: { challengeId: id } })
  ).subject
}

/** The DID that an answer came with. @throws {CommandError} when it was none. */
async function settled(read: () => Promise<Asked>): Promise<string> {
  for (;;) {
    const { state, did } = await read()
    if (state === 'success' && did) return did
    if (state === 'error') throw new CommandError('The answer was declined, or did not hold.', 1)
    // The daemon does not wait for what can come no more.
    await setTimeout(100)
  }
}
