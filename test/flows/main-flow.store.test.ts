/**
 * Two daemon processes with a shared ledger file connect, issue and present, without interruption and
 * restarted between any two steps.
 */
import { describe, expect, test } from 'vitest'
import { testOnSqlite } from '../support/on-sqlite.ts'
import { announced, finished, startMainFlow, steps, wholeStory } from '../support/main-flow.ts'

const bearer = 'a-bearer-of-this-test'
const start = () => startMainFlow({ GLOBAL_WEBHOOK_API_KEY: bearer })

/** Steps that involve one daemon only: they send nothing to the other one. */
const alone: Record<string, 0 | 1> = {
  'the issuer creates a DID': 0,
  'the issuer publishes the DID': 0,
  'the issuer publishes a schema': 0,
  'the holder creates a DID': 1,
  'the issuer creates an invitation': 0,
}

describe('the main flow', () => {
  // Over PostgreSQL, the test below sees the same events.
  testOnSqlite(
    'emits each state of both sides once and in order, with the right wallet and bearer token',
    async () => {
      await using started = await start()
      const { flow } = started
      for (const step of Object.values(steps)) await step(flow)
      await finished(flow)
      expect(announced(flow)).toEqual(wholeStory)
      const ids = flow.webhook.deliveries.map(({ event }) => event.id)
      expect(new Set(ids).size).toBe(ids.length)
      expect(new Set(flow.webhook.deliveries.map(({ headers }) => headers.authorization))).toEqual(
        new Set([`Bearer ${bearer}`]),
      )
    },
  )

  test(
    'completes when the daemons are ended after each of their steps, in turn by SIGTERM and SIGKILL',
    { timeout: 180_000 },
    async () => {
      await using started = await start()
      const { flow, acme, alice } = started
      const daemons = [acme, alice]
      for (const [n, [name, step]] of Object.entries(steps).entries()) {
        await step(flow)
        const taking = [0, 1].filter((m) => (alone[name] ?? m) === m)
        const ends = await Promise.all(
          taking.map((m) => daemons[m]!.stop((n + m) % 2 === 0 ? 'SIGTERM' : 'SIGKILL')),
        )
        expect(ends).toEqual(taking.map((m) => ((n + m) % 2 === 0 ? 0 : 'SIGKILL')))
        await Promise.all(taking.map((m) => daemons[m]!.start()))
      }
      await finished(flow)
      expect(announced(flow)).toEqual(wholeStory)
    },
  )
})
