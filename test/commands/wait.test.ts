/** `--wait`: the states that end the wait, and their exit codes. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { asTyped, emptyMark, markEmpty, spellOut } from '../../cli/argv.ts'
import { lanFlag } from '../../cli/daemon/lan.ts'
import { waitFlags, waitForRecord, type WaitFlags } from '../../cli/wait.ts'
import type { Event } from '../../cli/client/events.ts'
import type { Client } from '../../daemon/client/client.ts'
import { sharedAgent } from '../support/agent.ts'
import type { PresentationRecord } from '../../cli/format/proofs.ts'
import { timeoutText, waitingLine } from '../../cli/format/states.ts'
import { newUser } from './_cli.ts'

const id = 'the-proof'
const call = (() => Promise.reject(new Error('there is no daemon'))) as unknown as Client

/** A stream of proof events, each with an id and a state, that stays silent afterwards until the wait ends. */
async function* events(
  states: [id: string, state: string][],
  signal: AbortSignal,
): AsyncGenerator<Event, void> {
  for (const [presentationId, status] of states) {
    const data = { presentationId, status }
    yield {
      type: 'PresentationUpdated',
      id: randomUUID(),
      ts: new Date().toISOString(),
      walletId: randomUUID(),
      data,
    }
  }
  await new Promise((resolve) => signal.addEventListener('abort', resolve))
}

async function wait(flags: WaitFlags, first: string, ...states: [id: string, state: string][]) {
  const context = {
    call,
    flags,
    openEvents: (_: object, { signal }: { signal: AbortSignal }) => Promise.resolve(events(states, signal)),
    sayAtTerminal: () => undefined,
  }
  const record = { presentationId: id, status: first } as PresentationRecord
  const { failure } = await waitForRecord(context, 'proof', 'PresentationVerified', () =>
    Promise.resolve(record),
  )
  return failure && [failure.exitCode, failure.message]
}

test.each([
  ['the state that the call has led to already', [], 'PresentationVerified'],
  [
    'a later state of the record',
    [
      ['another', 'PresentationRejected'],
      [id, 'RequestSent'],
      [id, 'PresentationVerified'],
    ],
    'RequestPending',
  ],
  [
    'a state that others have followed by now',
    [
      [id, 'PresentationVerified'],
      [id, 'PresentationRejected'],
    ],
    'RequestSent',
  ],
] as [string, [string, string][], string][])('%s', async (_, states, first) => {
  expect(await wait({ wait: '' }, first, ...states)).toBeUndefined()
})

test.each([
  ['PresentationVerificationFailed', 8],
  ['RequestRejected', 5],
  ['PresentationAccepted', 5],
  ['ProblemReportPending', 5],
])('%s ends the wait (%i)', async (state, exitCode) => {
  expect(await wait({ wait: '' }, 'RequestSent', [id, state])).toEqual([
    exitCode,
    expect.stringContaining(`is in ${state} (`),
  ])
})

test('a wait for a report continues while the report is pending', async () => {
  expect(
    await wait({ wait: 'ProblemReportSent' }, 'ProblemReportPending', [id, 'ProblemReportSent']),
  ).toBeUndefined()
})

test('a timeout reports the last state', async () => {
  expect(await wait({ wait: '', timeout: '1' }, 'RequestPending', [id, 'RequestSent'])).toEqual([
    6,
    `The proof ${id} is in RequestSent (waiting for the prover to present) after 1 s, and not yet in PresentationVerified; it continues when the other side answers.`,
  ])
})

test('no flag means no wait; an unknown state is a usage error', async () => {
  expect(await wait({}, 'RequestPending')).toBeUndefined()
  await expect(wait({ wait: 'Nonsense' }, '')).rejects.toMatchObject({ name: 'UsageError' })
  await expect(wait({ wait: '', timeout: 'soon' }, '')).rejects.toMatchObject({ name: 'UsageError' })
})

test('the flag has an optional value and is ignored after --', () => {
  const flags = { ...waitFlags('it is done'), lan: lanFlag }
  const spelt = spellOut(
    ['a', '--wait', 'b', '--wait=x', '--lan', '10.0.0.1', '--lan', '--', '--wait'],
    flags,
  )
  expect(spelt).toEqual(['a', '--wait=', 'b', '--wait=x', '--lan', '10.0.0.1', '--lan=', '--', '--wait'])
  expect(asTyped(spelt, flags)).toEqual(spelt.map((word) => word.replace(/=$/, '')))
  expect(spellOut(['--wait'], {})).toEqual(['--wait'])
  expect(markEmpty(['a=', '--wait=', '--x=', '--', '--wait='], flags)).toEqual([
    'a=',
    `--wait=${emptyMark}`,
    '--x=',
    '--',
    '--wait=',
  ])
})

const oob = Buffer.from(JSON.stringify({ expires_time: 1_900_000_000 })).toString('base64url')
const invited = { topic: 'credential', id: 'x', state: 'InvitationGenerated' } as const

test.each([
  [
    { ...invited, invitationUrl: `https://a.example/?_oob=${oob}` },
    'Waiting for an answer to the invitation, 5m at most. Ctrl-C stops waiting: the invitation stays valid until 2030-03-17T17:46:40.000Z.',
  ],
  [
    invited,
    'Waiting for an answer to the invitation, 5m at most. Ctrl-C stops waiting: the invitation stays valid.',
  ],
  [
    { ...invited, state: 'OfferSent' },
    'Waiting for the holder to accept the offer, 5m at most. Ctrl-C stops waiting: it continues when the other side answers.',
  ],
  [
    { ...invited, state: 'OfferPending' },
    'Waiting until it is issued, 5m at most. Ctrl-C stops waiting: the daemon continues.',
  ],
] as const)('at a terminal, a wait names the awaited states: %j', (waited, line) => {
  expect(waitingLine(waited, 'CredentialSent', '5m')).toBe(line)
})

test('a wait for a state that waits itself names that state', () => {
  const waited = { ...invited, state: 'RequestPending' }
  expect(waitingLine(waited, 'RequestSent', '5m')).toBe(
    'Waiting until it is in RequestSent, 5m at most. Ctrl-C stops waiting: the daemon continues.',
  )
})

test('after a timeout, the text describes the current state', () => {
  expect(timeoutText(invited, 'CredentialSent', 4)).toMatch(
    /not yet in CredentialSent; the invitation stays valid\.$/,
  )
  const mine = timeoutText({ ...invited, state: 'RequestReceived' }, 'CredentialSent', 4)
  expect(mine).toMatch(/not yet in CredentialSent; it waits for you: agent credential issue x$/)
})

test('at a terminal, a wait prints its message first and the next command once, after the error', async () => {
  const agent = await sharedAgent()
  const { apiKey } = await agent.newTenant()
  using user = newUser()
  const env = { AGENT_URL: agent.url, AGENT_API_KEY: apiKey }
  const args = ['connection', 'invite', '--qr', 'none', '--wait', '--timeout', '1s']
  const { code, out } = await user.runInTerminal(args, { columns: 200, rows: 24 }, env)
  expect(code).toBe(6)
  expect(out).toMatch(
    /_oobid=[^]*Waiting for an answer to the invitation, 1s at most\. Ctrl-C stops waiting: the invitation stays valid\.[^]*Error: /,
  )
  expect(out.match(/agent connection show/g)).toHaveLength(1)
  expect(out).not.toContain('by itself')
  // In a script, no message precedes the result.
  const piped = await user.run(args, { env })
  expect(piped.err).toMatch(
    /^Error: The connection \S+ is in InvitationGenerated .* the invitation stays valid\.\n {2}Try: agent connection show \S+$/,
  )
})
