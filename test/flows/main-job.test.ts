/** Two daemons in separate processes and folders that share a ledger file do the main job, undisturbed and stopped between any two steps. */
import { describe, expect, test } from 'vitest'
import { Daemon, settingsIn, temporaryFolder } from '../_daemon.ts'
import { announced, finished, onboard, steps, wholeStory, type Job } from '../_main-job.ts'
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
  const job = { sink, issuer: await onboard(daemons[0], adminKey, 'acme'), holder: await onboard(daemons[1], adminKey, 'alice') } as Job
  return {
    job,
    daemons,
    async [Symbol.asyncDispose]() {
      for (const part of stack.toReversed()) await part[Symbol.asyncDispose]()
    },
  }
}

describe('the main job', () => {
  test(
    'is announced state by state on both sides, each once, in order, with the right wallet and bearer',
    { timeout: 60_000 },
    async () => {
      await using setting = await setUp()
      const { job } = setting
      for (const step of Object.values(steps)) await step(job)
      await finished(job)
      expect(announced(job)).toEqual(wholeStory)
      const ids = job.sink.deliveries.map(({ event }) => event.id)
      expect(new Set(ids).size).toBe(ids.length)
      expect(new Set(job.sink.deliveries.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${bearer}`]))
    },
  )

  test('completes when both daemons are ended between any two steps, in turn by SIGTERM and SIGKILL', { timeout: 180_000 }, async () => {
    await using setting = await setUp()
    const { job, daemons } = setting
    for (const [n, step] of Object.values(steps).entries()) {
      await step(job)
      const ends = await Promise.all(daemons.map((daemon, m) => daemon.stop((n + m) % 2 === 0 ? 'SIGTERM' : 'SIGKILL')))
      expect(ends).toEqual(n % 2 === 0 ? [0, 'SIGKILL'] : ['SIGKILL', 0])
      await Promise.all(daemons.map((daemon) => daemon.start()))
    }
    await finished(job)
    expect(announced(job)).toEqual(wholeStory)
  })
})
