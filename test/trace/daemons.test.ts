/** The trace of a thread between two daemon processes, one of which is stopped for a while. */
import { expect, test } from 'vitest'
import type { Step, Trace } from '../../src/trace/model.ts'
import { Daemon, settingsIn, temporaryFolder } from '../_daemon.ts'
import { finished, onboard, steps, type Job, type Party } from '../_main-flow.ts'
import { Sink } from '../_sink.ts'

const adminKey = 'an-administrator-of-this-test'

async function trace({ daemon, apiKey }: Party, id: string): Promise<Trace> {
  const { status, body } = await daemon.call(`GET /traces/${id}`, { apiKey })
  expect(status, JSON.stringify(body)).toBe(200)
  return body as Trace
}

const messages = ({ steps }: Trace) =>
  steps.filter((step): step is Extract<Step, { kind: 'message' }> => step.kind === 'message')
const names = (found: Trace) =>
  messages(found).map(({ direction, type }) => `${direction} ${type.split('/').at(-1)}`)

test(
  'both sides have each message once and in order, even if the other side was stopped',
  { timeout: 120_000 },
  async () => {
    await using folder = await temporaryFolder()
    await using sink = await Sink.open()
    const start = (name: string) =>
      Daemon.start({
        ...settingsIn(folder.path, name, adminKey),
        GLOBAL_WEBHOOK_URL: sink.url,
      })
    await using acme = await start('acme')
    await using alice = await start('alice')
    const job = {
      sink,
      issuer: await onboard(acme, adminKey, 'acme'),
      holder: await onboard(alice, adminKey, 'alice'),
    } as Job
    for (const [name, step] of Object.entries(steps)) {
      if (name !== 'the issuer offers a credential') {
        await step(job)
        continue
      }
      // Connect before the holder stops.
      await sink.waitFor(
        'the connection of the holder',
        ({ data }) => data.state === 'ConnectionResponseReceived',
      )
      await alice.stop()
      await step(job)
      await expect
        .poll(async () => (await trace(job.issuer, job.recordId)).pending[0]?.attempts, { timeout: 30_000 })
        .toBeGreaterThan(1)
      const { pending, steps: known } = await trace(job.issuer, job.recordId)
      expect(known).toMatchObject([{ kind: 'state', to: 'OfferPending' }])
      expect(pending).toMatchObject([
        {
          what: 'message',
          topic: 'credential',
          recordId: job.recordId,
          state: 'OfferPending',
          name: expect.stringMatching(/offer-credential$/),
        },
      ])
      expect(pending[0]!.reason).toMatch(/nothing listens there/)
      await alice.start()
    }
    await finished(job)

    const [issuerTrace, holderTrace] = [
      await trace(job.issuer, job.credentialThid),
      await trace(job.holder, job.credentialThid),
    ]
    expect(names(issuerTrace)).toEqual([
      'sent offer-credential',
      'received request-credential',
      'sent issue-credential',
    ])
    expect(names(holderTrace)).toEqual([
      'received offer-credential',
      'sent request-credential',
      'received issue-credential',
    ])
    const [offer, , credential] = messages(issuerTrace)
    expect(offer).toMatchObject({ outcome: 'taken', failure: expect.stringMatching(/nothing listens there/) })
    expect(offer!.attempts).toBeGreaterThan(2)
    expect(credential).toMatchObject({ attempts: 1, outcome: 'taken' })
    expect(messages(holderTrace).map(({ id }) => id)).toEqual(messages(issuerTrace).map(({ id }) => id))
    for (const found of [issuerTrace, holderTrace]) {
      expect(found.pending).toEqual([])
      expect(
        found.steps.filter(({ kind }) => kind === 'delivery'),
        'the events at the global webhook',
      ).toEqual([])
    }

    const proof = await trace(job.holder, job.holderPresentationId)
    expect(names(proof)).toEqual(['received request-presentation', 'sent presentation'])
    expect(proof.thid).toBe(job.proofThid)
  },
)
