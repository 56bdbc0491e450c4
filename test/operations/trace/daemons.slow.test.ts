/** The trace of a thread between two daemon processes, one of which is stopped for a while. */
import { expect, test } from 'vitest'
import type { Step, Trace } from '../../../src/operations/trace/model.ts'
import { finished, startMainFlow, steps } from '../../support/main-flow.ts'
import type { Tenant } from '../../support/tenants.ts'

const trace = ({ call }: Tenant, id: string): Promise<Trace> => call('GET /traces/{id}', { path: { id } })

const messages = ({ steps }: Trace) =>
  steps.filter((step): step is Extract<Step, { kind: 'message' }> => step.kind === 'message')
const names = (found: Trace) =>
  messages(found).map(({ direction, type }) => `${direction} ${type.split('/').at(-1)}`)

test('both sides have each message once and in order, even if the other side was stopped', async () => {
  await using started = await startMainFlow()
  const { alice, webhook, flow } = started
  for (const [name, step] of Object.entries(steps)) {
    if (name !== 'the issuer offers a credential') {
      await step(flow)
      continue
    }
    // Connect before the holder stops.
    await webhook.waitFor(
      'the connection of the holder',
      ({ data }) => data.state === 'ConnectionResponseReceived',
    )
    await alice.stop()
    await step(flow)
    await expect
      .poll(async () => (await trace(flow.issuer, flow.recordId)).pending[0]?.attempts)
      .toBeGreaterThan(1)
    const { pending, steps: known } = await trace(flow.issuer, flow.recordId)
    expect(known).toMatchObject([{ kind: 'state', to: 'OfferPending' }])
    expect(pending).toMatchObject([
      {
        what: 'message',
        topic: 'credential',
        recordId: flow.recordId,
        state: 'OfferPending',
        name: expect.stringMatching(/offer-credential$/),
      },
    ])
    expect(pending[0]!.reason).toMatch(/nothing listens there/)
    await alice.start()
  }
  await finished(flow)

  const [issuerTrace, holderTrace] = [
    await trace(flow.issuer, flow.credentialThid),
    await trace(flow.holder, flow.credentialThid),
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

  const proof = await trace(flow.holder, flow.holderPresentationId)
  expect(names(proof)).toEqual(['received request-presentation', 'sent presentation'])
  expect(proof.thid).toBe(flow.proofThid)
})
