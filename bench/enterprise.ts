/**
 * DID requests and challenges over HTTP, one after the other, every change on disk. Client and server are in
 * this process.
 */
import { newHolder } from '../test/exchange/enterprise/_suite.ts'
import { startAgent } from '../test/support/agent.ts'
import type { Suites } from './_harness.ts'

/** An agent with an API key. */
export async function openEnterpriseSuites(): Promise<Suites> {
  const started = await startAgent({ ENTERPRISE_SUBMISSIONS_PER_MINUTE: '1000000000' })
  const { tenant } = started
  const holder = newHolder()
  const answer = async (url: string, body: object) => {
    const response = await fetch(url, { method: 'POST', body: JSON.stringify(body) })
    await response.text()
    if (response.status !== 200) throw new Error(`an answer was not taken: ${response.status}`)
  }
  const request = () => tenant('POST /onboard/did-requests')
  const challenge = () => tenant('POST /did-authentication/challenges')
  const [oneRequest, oneChallenge] = [await request(), await challenge()]
  const suites = {
    'Onboard, over HTTP': [
      {
        name: 'read',
        once: () =>
          tenant('GET /onboard/did-requests/{didRequestId}', { path: { didRequestId: oneRequest.id } }),
      },
      { name: 'create', once: request },
      {
        name: 'create and submit',
        once: async () => answer((await request()).didRequest.onboardEndpoint, { did: holder.did }),
      },
    ],
    'Authenticate, over HTTP': [
      {
        name: 'read',
        once: () =>
          tenant('GET /did-authentication/challenges/{challengeId}', {
            path: { challengeId: oneChallenge.id },
          }),
      },
      { name: 'create', once: challenge },
      {
        name: 'create, sign and submit',
        once: async () => {
          const { submissionEndpoint, nonce } = (await challenge()).challenge
          await answer(submissionEndpoint, holder.answer(nonce))
        },
      },
    ],
  }
  return { suites, [Symbol.asyncDispose]: () => started[Symbol.asyncDispose]() }
}
