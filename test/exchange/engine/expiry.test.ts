/** Expiry of flows: the states that can expire, and the search for expired records. */
import { expect, test } from 'vitest'
import { connection } from '../../../src/exchange/protocols/connection/model.ts'
import { connectionStates } from '../../../src/definitions/connection.ts'
import { endOf, findExpired } from '../../../src/exchange/engine/expiry.ts'
import { credentialStates } from '../../../src/definitions/issue-credential.ts'
import { findExpiry, findRow, isPast, type Machine } from '../../../src/definitions/machine.ts'
import { type Rec, waitsSince } from '../../../src/exchange/engine/protocol.ts'
import { issueCredential } from '../../../src/exchange/issuance/model.ts'
import { presentationStates } from '../../../src/definitions/present-proof.ts'
import { updateData, begin } from '../../../src/exchange/engine/record.ts'
import { temporaryWalletDb } from '../../support/wallet-db.ts'

const dayMs = 86_400_000

/**
 * States that need not expire: final states, states that are never stored, and unanswered connection
 * invitations.
 */
const ends: [string, Machine, string[]][] = [
  [
    'connection',
    connectionStates,
    [
      'InvitationGenerated',
      'ConnectionRequestReceived',
      'ConnectionResponseSent',
      'InvitationReceived',
      'ConnectionResponseReceived',
    ],
  ],
  [
    'credential',
    credentialStates,
    [
      'CredentialSent',
      'CredentialReceived',
      'InvitationExpired',
      'OfferExpired',
      'OfferBlocked',
      'OfferRejected',
      'IssuanceFailed',
    ],
  ],
  [
    'presentation',
    presentationStates,
    [
      'PresentationVerified',
      'PresentationAccepted',
      'PresentationSent',
      'PresentationVerificationFailed',
      'PresentationRejected',
      'InvitationExpired',
      'RequestExpired',
      'RequestRejected',
    ],
  ],
]
const reports = ['ProblemReportPending', 'ProblemReportSent', 'ProblemReportReceived']

test.each(ends)('every state of a %s is final or can expire', (_name, states, ended) => {
  for (const [role, , , state] of states.rows) {
    const isEnd = ended.includes(state) || reports.includes(state)
    expect(findExpiry(states, role, state) === undefined, `${role} ${state}`).toBe(isEnd)
  }
})

test.each(ends)('a peer of a %s may report a problem while the flow waits', (_name, machine) => {
  for (const [role, , , state] of machine.rows) {
    // An offer of OpenID4VCI has no peer, and neither has a request of OpenID4VP.
    const unpaired = [
      'InvitationGenerated',
      'RequestCreated',
      'OfferCreated',
      'OfferRedeemed',
      'RequestDeferred',
      'RequestApproved',
      'AuthorizationPending',
      'CredentialDeferred',
    ]
    const isWaiting = findExpiry(machine, role, state) && !unpaired.includes(state)
    const isSending = ['sent', 'made'].some((on) => findRow(machine, role, state, on))
    if (isWaiting && !isSending)
      expect(findRow(machine, role, state, 'received problem-report'), `${role} ${state}`).toBeDefined()
  }
})

test.each(ends)('a task of a %s that can never succeed ends the flow', (_name, machine) => {
  // An offer that cannot be accepted automatically waits for a person.
  const others = ['make acceptance']
  for (const [role, , , state, then] of machine.rows) {
    if (!then?.startsWith('make ') || others.includes(then) || machine.states[state]!.ends !== undefined)
      continue
    const end = findRow(machine, role, state, 'failed')?.[3]
    expect(end && machine.states[end]!.ends, `${role} ${state}`).toBe(5)
  }
})

test('the interruption of a flow does not imply earlier transitions', () => {
  const issue = 'POST /issue-credentials/records/{recordId}/issue-credential'
  for (const state of reports) expect(isPast(credentialStates, 'Issuer', issue, state), state).toBe(false)
  const reject = 'POST /issue-credentials/records/{recordId}/reject-offer'
  expect(isPast(credentialStates, 'Holder', reject, 'ProblemReportSent')).toBe(true)
})

test('waiting counts from the last transition, or from the expiry of an unanswered invitation if that is later', () => {
  const createdAt = '2026-01-01T00:00:00.000Z'
  const since = (role: string, state: string, more: object = {}) =>
    waitsSince(issueCredential, { role, state, createdAt, ...more } as Rec)
  expect(since('Holder', 'OfferReceived')).toBe(createdAt)
  expect(since('Issuer', 'OfferSent', { updatedAt: '2026-01-02T00:00:00.000Z' })).toBe(
    '2026-01-02T00:00:00.000Z',
  )
  expect(since('Issuer', 'CredentialSent')).toBeNull()
  const invitation = { expiresTime: Date.parse('2026-03-01T00:00:00Z') / 1_000 }
  expect(since('Issuer', 'InvitationGenerated', { invitation })).toBe('2026-03-01T00:00:00.000Z')
  expect(since('Issuer', 'RequestReceived', { invitation })).toBe(createdAt)
  expect(since('Issuer', 'OfferCreated', { openid4vci: invitation })).toBe('2026-03-01T00:00:00.000Z')
  // The offer of another agent ends with its last transition.
  expect(since('Holder', 'OfferReceived', { invitation })).toBe(createdAt)
  expect(since('Issuer', 'InvitationGenerated', { invitation: { expiresTime: 1 } })).toBe(createdAt)
  expect(since('Issuer', 'InvitationGenerated', { invitation: { expiresTime: 1e300 } })).toBe(
    '9999-12-31T23:59:59.999Z',
  )
})

test('a duration beyond the range of dates never ends', () => {
  expect(endOf('2026-01-01T00:00:00.000Z', Number.MAX_VALUE).toISOString()).toBe('9999-12-31T23:59:59.999Z')
})

test('the longest waiting flows come first, then the next due time; a clock set back expires nothing early', async () => {
  await using wallet = await temporaryWalletDb()
  const { db } = wallet
  const data = {
    invitation: { id: 'i', type: 't', from: 'did:peer:2.x', invitationUrl: 'u' },
    metaRetries: 5,
  }
  const [first, second, third] = await db.transaction().execute(async (tx) => {
    const made = []
    for (const thid of ['a', 'b', 'c'])
      made.push(await begin(tx, connection, 'Invitee', 'received invitation', { thid, data }))
    return made as [(typeof made)[0], (typeof made)[0], (typeof made)[0]]
  })
  expect(await findExpired(db, 1, { limit: 10 })).toEqual({ expired: [] })

  const now = new Date('2026-06-01T00:00:00Z')
  const ago = (ms: number) => new Date(now.getTime() - ms).toISOString()
  const waits: [string, number][] = [
    [first.id, 29 * dayMs],
    [second.id, 31 * dayMs],
    [third.id, 40 * dayMs],
  ]
  for (const [id, ms] of waits)
    await db
      .updateTable('record')
      .set({ waits_since: ago(ms) })
      .where('id', '=', id)
      .execute()
  const find = (limit: number, at = now) =>
    findExpired(db, 30 * 86_400, { limit }, (ms) => ms <= at.getTime())
  const expired = [third, second].map(({ id: recordId }) => ({ recordId, protocol: 'connection' }))
  expect(await find(10)).toEqual({ expired, nextAt: new Date(now.getTime() + dayMs) })
  expect(await find(1)).toEqual({ expired: expired.slice(0, 1) })
  expect(await find(10, new Date(now.getTime() - 2 * dayMs))).toMatchObject({ expired: [expired[0]] })
  expect((await find(10, new Date(now.getTime() + dayMs))).expired).toHaveLength(3)

  // A change without a transition does not affect the order.
  await db.transaction().execute((tx) => updateData(tx, first, { label: 'another' }))
  expect((await find(10)).nextAt).toEqual(new Date(now.getTime() + dayMs))
})
