/** Concurrent answers: a link accepts exactly one of any number. */
import { expect, test } from 'vitest'
import {
  challenges as challengeProduct,
  submitResponse,
} from '../../../src/exchange/enterprise/authentication.ts'
import { didRequests, submitDid } from '../../../src/exchange/enterprise/onboarding.ts'
import { getSession } from '../../../src/exchange/enterprise/session.ts'
import { sharedAgent } from '../../support/agent.ts'
import { beginMany, newHolder, withWallet } from './_suite.ts'

const rounds = 1_000
const crowd = 10
const others = Array.from({ length: crowd - 1 }, () => 410)

const statusOf = (answer: Promise<{ status: number }>) =>
  answer.then(
    ({ status }) => status,
    (error: { status?: number }) => error.status ?? 500,
  )

test('of ten concurrent answers to a challenge, one is evaluated and nine are refused; a thousand times', () =>
  withWallet(async (own) => {
    // Each evaluated answer resolves the document of its DID.
    let evaluations = 0
    const document = (did: string) => {
      evaluations++
      return own.env.resolver.document(did)
    }
    const wallet = { ...own, env: { ...own.env, resolver: { ...own.env.resolver, document } } }
    const holder = newHolder()
    const challenges = await beginMany(wallet, challengeProduct, rounds)
    const judge = async ({ id, nonce, submission_id }: (typeof challenges)[number], round: number) => {
      const good = holder.answer(nonce!)
      // One in ten signs another nonce. If it is first, the session fails.
      const bodies = Array.from({ length: crowd }, (_, n) =>
        n === round % crowd ? { ...good, signature: 'AAAA' } : good,
      )
      const statuses = await Promise.all(
        bodies.map((body) => statusOf(submitResponse(wallet, submission_id, body))),
      )
      const { state, did } = await getSession(wallet.db, challengeProduct, id)
      return { statuses, outcome: { state, did } }
    }
    for (let round = 0; round < rounds; round += 20) {
      const judged = await Promise.all(
        challenges.slice(round, round + 20).map((row, n) => judge(row, round + n)),
      )
      for (const { statuses, outcome } of judged) {
        const [evaluated, ...rest] = statuses.toSorted((a, b) => a - b)
        expect(rest).toEqual(others)
        expect([200, 400]).toContain(evaluated)
        expect(outcome).toEqual(
          evaluated === 200 ? { state: 'success', did: holder.did } : { state: 'error', did: null },
        )
      }
    }
    expect(evaluations).toBe(rounds)
  }))

test('of ten concurrent DID submissions, one is accepted', () =>
  withWallet(async (wallet) => {
    for (const { id, submission_id } of await beginMany(wallet, didRequests, 100)) {
      const dids = Array.from({ length: crowd }, (_, n) => `did:example:${n}`)
      const statuses = await Promise.all(
        dids.map((did) => statusOf(submitDid(wallet, submission_id, { did }))),
      )
      expect(statuses.toSorted((a, b) => a - b)).toEqual([200, ...others])
      expect(await getSession(wallet.db, didRequests, id)).toMatchObject({
        state: 'success',
        did: dids[statuses.indexOf(200)],
      })
    }
  }))

test('the same over HTTP', async () => {
  const agent = await sharedAgent()
  const { challenge, id } = await agent.tenant('POST /did-authentication/challenges')
  const body = JSON.stringify(newHolder().answer(challenge.nonce))
  const replies = await Promise.all(
    Array.from({ length: crowd }, () => fetch(challenge.submissionEndpoint, { method: 'POST', body })),
  )
  expect(replies.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...others])
  const after = await agent.tenant('GET /did-authentication/challenges/{challengeId}', {
    path: { challengeId: id },
  })
  expect(after).toMatchObject({ state: 'success' })
})
