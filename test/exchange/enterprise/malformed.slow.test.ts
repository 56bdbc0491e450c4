/** Answers of arbitrary shape: no internal error, and always the correct state. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sharedAgent } from '../../support/agent.ts'
import { character } from '../../support/character.ts'
import {
  challenges as challengeProduct,
  submitResponse,
} from '../../../src/exchange/enterprise/authentication.ts'
import { didRequests, findDidFault, submitDid } from '../../../src/exchange/enterprise/onboarding.ts'
import { getSession } from '../../../src/exchange/enterprise/session.ts'
import { ask } from '../../support/ask.ts'
import { beginMany, keyOf, newHolder, withWallet } from './_suite.ts'

const runs = 5_000
const atOnce = 50
const { did } = newHolder()

const method = fc.constantFrom('peer', 'key', 'jwk', 'web', 'prism', 'example', 'PEER', '')
const anyDid = fc.oneof(
  fc.string({ unit: character }),
  fc.tuple(method, fc.string()).map(([name, rest]) => `did:${name}:${rest}`),
  fc
    .tuple(method, fc.string({ unit: fc.constantFrom(...'.:_-%2SVEz6MkLS') }))
    .map(([name, rest]) => `did:${name}:${rest}`),
  fc
    .tuple(fc.nat(did.length), fc.string({ maxLength: 3 }))
    .map(([at, text]) => did.slice(0, at) + text + did.slice(at + 1)),
  fc.constantFrom(
    did,
    'x'.repeat(4_001),
    `did:example:${'y'.repeat(3_988)}`,
    '__proto__',
    'did:__proto__:x',
    'did:constructor:x',
  ),
)
const anySignature = fc.oneof(
  fc.string(),
  fc.base64String(),
  fc.constantFrom('A'.repeat(86), 'A'.repeat(1_000), 'A'.repeat(1_001), '='),
  fc.jsonValue(),
)
const anyBody = fc.oneof(
  fc.record({ did: fc.oneof(anyDid, fc.jsonValue()), signature: anySignature }, { requiredKeys: [] }),
  fc.jsonValue(),
  fc.constant(undefined),
)

test(`${2 * runs} answers of arbitrary shape are evaluated without side effects`, () =>
  withWallet(async (wallet) => {
    const requests = await beginMany(wallet, didRequests, runs)
    const challenges = await beginMany(wallet, challengeProduct, runs)
    const judged = async (answer: Promise<{ status: number }>) =>
      (await answer.catch((error: { status: number }) => error)).status
    const isDid = (body: unknown) => {
      const text = (body as { did?: unknown } | null | undefined)?.did
      return (
        typeof text === 'string' && text.length <= 4_000 && text !== '' && findDidFault(text) === undefined
      )
    }
    const judge = async (body: unknown) => {
      const [request, challenge] = [requests.pop()!, challenges.pop()!]
      const handed = await judged(submitDid(wallet, request.submission_id, body))
      const signed = await judged(submitResponse(wallet, challenge.submission_id, body))
      const [{ state }, { state: second, did: none }] = [
        await getSession(wallet.db, didRequests, request.id),
        await getSession(wallet.db, challengeProduct, challenge.id),
      ]
      return { handed, state, signed, second, none }
    }
    await fc.assert(
      fc.asyncProperty(fc.array(anyBody, { minLength: atOnce, maxLength: atOnce }), async (bodies) => {
        const outcomes = await Promise.all(bodies.map(judge))
        // None of these signs the nonce.
        const refused = { signed: 400, second: 'error', none: null }
        expect(outcomes).toEqual(
          bodies.map((body) => ({
            ...(isDid(body) ? { handed: 200, state: 'success' } : { handed: 400, state: 'error' }),
            ...refused,
          })),
        )
      }),
      // Shrinking a counterexample would need unused links.
      { numRuns: runs / atOnce, endOnFailure: true },
    )
  }))

test('arbitrary bytes over HTTP to arbitrary links', async () => {
  const agent = await sharedAgent({ ENTERPRISE_SUBMISSIONS_PER_MINUTE: '100000' })
  const apiKey = keyOf(agent)
  const type = fc.constantFrom(
    'application/json',
    'text/plain',
    'application/json; charset=nonsense',
    'multipart/form-data; boundary=x',
  )
  const target = fc.oneof(
    fc.string({ unit: character, maxLength: 200 }).map(encodeURIComponent),
    fc.base64String({ minLength: 8 }),
    fc.uuid(),
  )
  const bytes = fc.oneof(
    fc.uint8Array({ minLength: 1 }),
    fc.json().map((text) => Buffer.from(text)),
  )
  await fc.assert(
    fc.asyncProperty(target, bytes, type, async (segment, body, contentType) => {
      const send = (url: string) =>
        fetch(url, {
          method: 'POST',
          body: Buffer.from(body),
          headers: { 'content-type': contentType },
        }).then(({ status }) => status)
      for (const path of ['/onboard', '/did-authentication/challenge-submissions'])
        expect([400, 404]).toContain(await send(`${agent.url}${path}/${segment.replaceAll('/', '')}x`))
      const { id, challenge } = (await ask(agent, 'POST /did-authentication/challenges', { apiKey })).body
      expect(await send(challenge.submissionEndpoint)).toBe(400)
      expect((await ask(agent, `GET /did-authentication/challenges/${id}`, { apiKey })).body.state).toBe(
        'error',
      )
    }),
    { numRuns: 60, endOnFailure: true },
  )
})
