/**
 * A credential that renews itself for a day after one log-in, and what ends that. `RENEWAL_DAYS` is how many
 * days (`npm run test:renewals`); for more than one, the growth of both daemons is printed.
 */
import { expect, test } from 'vitest'
import { decodeSdJwt } from '../../../src/credentials/codecs/sd-jwt/sd-jwt.ts'
import { untilEnd } from '../../support/shared.ts'
import { recordOf } from './_wallet.ts'
import { measure, renewOnce, startLongRenewal } from './_long-renewal.ts'
import { show, type Record } from './holder/_holder.ts'
import { renewalOf } from './holder/_refresh.ts'

const days = Number(process.env['RENEWAL_DAYS'] ?? '1')
const dayMs = 86_400_000

const scene = await untilEnd(startLongRenewal({ lifetime: 3_600 }))
const { holder, issuer, issuerRecordId, recordId, setup } = scene

const endOf = ({ credential }: Record) =>
  decodeSdJwt(Buffer.from(credential!, 'base64url').toString()).validUntil! * 1_000

const untilMs = scene.now() + days * dayMs

test(
  'a credential is valid at each time, with the claims of the time',
  async () => {
    const before = await measure(scene)
    let [record, count, changed] = [await show(holder, recordId), 0, 0]
    while (Date.parse(renewalOf(record).dueAt!) < untilMs) {
      if (count % 10 === 5) scene.work(`Team ${count}`)
      const endMs = endOf(record)
      record = await renewOnce(scene)
      const renewal = renewalOf(record)
      expect(renewal).toMatchObject({ state: 'possible', count: ++count })
      expect(renewal.reason).toBeUndefined()
      expect(Date.parse(renewal.renewedAt!)).toBeLessThan(endMs)
      if (renewal.changes) changed++
      if (count % 1_000 === 0) console.log(`${count} renewals`, await measure(scene))
    }
    expect(count).toBeGreaterThan(days * 16)
    expect(changed).toBe(Math.floor((count + 4) / 10))
    const after = await measure(scene)
    if (days > 1) console.log(`${count} renewals`, before, after)
    // Events end by EVENT_RETENTION. Entries of status lists stay.
    expect(['event', 'status_entry']).toEqual(
      expect.arrayContaining(grown(before.issuer, after.issuer, count)),
    )
    expect(['event']).toEqual(expect.arrayContaining(grown(before.holder, after.holder, count)))
  },
  days * 120_000,
)

/** The tables that each second renewal or more has left a row in. */
function grown(before: { [name: string]: number }, after: typeof before, renewals: number): string[] {
  const names = Object.keys(after).filter((name) => !name.startsWith('MB'))
  return names.filter((name) => after[name]! - (before[name] ?? 0) > renewals / 2).toSorted()
}

// The refresh token ends a year after the log-in.
test.runIf(days === 365)('after a year, it needs the person', async () => {
  const record = await renewOnce(scene)
  expect(renewalOf(record)).toMatchObject({
    state: 'needs-you',
    reason: expect.stringContaining('The refresh token has expired'),
  })
})

test.runIf(days < 365)('the issuer revokes: the renewal ends, and says so', async () => {
  await issuer.call('PATCH /credential-status/revoke-credential/{id}', { path: { id: issuerRecordId } })
  const { renewed } = await recordOf(setup, issuerRecordId)
  const record = await renewOnce(scene)
  expect(renewalOf(record)).toMatchObject({ state: 'ended', reason: expect.stringContaining('revoked') })
  expect(record.protocolState).toBe('CredentialReceived')
  const { contents } = await holder.call('GET /events', { query: { limit: 5, order: 'desc' } })
  expect(contents.map(({ data }) => data)).toContainEqual(
    expect.objectContaining({
      recordId,
      openid4vci: expect.objectContaining({ renewal: expect.objectContaining({ state: 'ended' }) }),
    }),
  )
  await scene.jumpTo(scene.now() + dayMs)
  expect((await recordOf(setup, issuerRecordId)).renewed).toEqual(renewed)
  expect((await measure(scene)).holder['job']).toBeUndefined()
})
