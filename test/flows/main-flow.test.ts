/**
 * Two daemon processes with a shared ledger file connect, issue and present, without interruption and
 * restarted between any two steps.
 */
import { describe, expect, test } from 'vitest'
import { Daemon, settingsIn, temporaryFolder } from '../_daemon.ts'
import { announced, finished, onboard, steps, wholeStory, type Job } from '../_main-flow.ts'
import { Sink } from '../_sink.ts'

const adminKey = 'an-administrator-of-this-test'
const bearer = 'a-bearer-of-this-test'

async function setUp() {
  const stack: { [Symbol.asyncDispose](): Promise<void> }[] = []
  const use = <T extends { [Symbol.asyncDispose](): Promise<void> }>(part: T) => (stack.push(part), part)
  const folder = use(await temporaryFolder())
  const sink = use(await Sink.open())
  const start = async (name: string) =>
    use(
      await Daemon.start({
        ...settingsIn(folder.path, name, adminKey),
        GLOBAL_WEBHOOK_URL: sink.url,
        GLOBAL_WEBHOOK_API_KEY: bearer,
      }),
    )
  const daemons = await Promise.all([start('acme'), start('alice')])
  const job = {
    sink,
    issuer: await onboard(daemons[0], adminKey, 'acme'),
    holder: await onboard(daemons[1], adminKey, 'alice'),
  } as Job
  return {
    job,
    daemons,
    async [Symbol.asyncDispose]() {
      for (const part of stack.toReversed()) await part[Symbol.asyncDispose]()
    },
  }
}

/** Steps that involve one daemon only: they send nothing to the other one. */
const alone: Record<string, 0 | 1> = {
  'the issuer creates a DID': 0,
  'the issuer publishes the DID': 0,
  'the issuer publishes a schema': 0,
  'the holder creates a DID': 1,
  'the issuer creates an invitation': 0,
}

describe('the main job', () => {
  test(
    'emits each state of both sides once and in order, with the right wallet and bearer token',
    { timeout: 60_000 },
    async () => {
      await using setting = await setUp()
      const { job } = setting
      for (const step of Object.values(steps)) await step(job)
      await finished(job)
      expect(announced(job)).toEqual(wholeStory)
      const ids = job.sink.deliveries.map(({ event }) => event.id)
      expect(new Set(ids).size).toBe(ids.length)
      expect(new Set(job.sink.deliveries.map(({ headers }) => headers.authorization))).toEqual(
        new Set([`Bearer ${bearer}`]),
      )
    },
  )

  test(
    'completes when the daemons are ended after each of their steps, in turn by SIGTERM and SIGKILL',
    { timeout: 180_000 },
    async () => {
      await using setting = await setUp()
      const { job, daemons } = setting
      for (const [n, [name, step]] of Object.entries(steps).entries()) {
        await step(job)
        const taking = [0, 1].filter((m) => (alone[name] ?? m) === m)
        const ends = await Promise.all(
          taking.map((m) => daemons[m]!.stop((n + m) % 2 === 0 ? 'SIGTERM' : 'SIGKILL')),
        )
        expect(ends).toEqual(taking.map((m) => ((n + m) % 2 === 0 ? 0 : 'SIGKILL')))
        await Promise.all(taking.map((m) => daemons[m]!.start()))
      }
      await finished(job)
      expect(announced(job)).toEqual(wholeStory)
    },
  )
})
