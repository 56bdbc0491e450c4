/** A renewal goes on where a killed daemon has left it, and uses no refresh token twice. */
import { expect, test } from 'vitest'
import { Daemon } from '../../../support/daemon.ts'
import { withProbe } from '../../../support/kill-points.ts'
import { until } from '../../../support/tenants.ts'
import { acceptOffer, show } from './_holder.ts'
import { startFakeIssuer } from './_issuer.ts'
import { givesRefreshTokens, refresh, renewalOf, renewed } from './_refresh.ts'

/** The commits after the token response: of the rotated token, a key, its DID, the credential, the new set. */
const points = [1, 2, 3, 4, 5].flatMap((nth): ['commit:before' | 'commit:after', number][] => [
  ['commit:before', nth],
  ['commit:after', nth],
])

test.each(points)('a daemon that dies at %s %i after the rotation', async (point, nth) => {
  await using issuer = await startFakeIssuer()
  const state = givesRefreshTokens(issuer)
  await using daemon = await Daemon.start({ ...withProbe, FAULTS: JSON.stringify({ awaits: true }) })
  const holder = await daemon.newTenant('holder')
  const { recordId, credential } = await acceptOffer(holder, issuer.offer())
  await until(
    'the notification',
    async () => issuer.at('notification').length,
    (count) => count > 0,
  )
  let isReady: () => void
  const ready = new Promise<void>((resolve) => (isReady = resolve))
  let requests = 0
  const rotate = issuer.answerOf('token')
  issuer.on('token', async (seen, usual) => {
    const answer = await rotate(seen, usual)
    if (++requests === 1) await ready
    return answer
  })
  await refresh(holder, recordId)
  await until(
    'the token request',
    async () => requests,
    (count) => count > 0,
  )
  await daemon.exchange({ type: 'kill', kill: { point, nth } })
  isReady!()
  await daemon.ended
  await daemon.start()
  const record = await renewed(holder, recordId)
  // What was not stored cannot be used: an issuer with tokens of single use then needs the person.
  if (point === 'commit:before' && nth === 1) {
    expect(renewalOf(record).state).toBe('needs-you')
    expect(record.credential).toBe(credential)
    expect(state.reused).toBe(1)
    return
  }
  expect(renewalOf(record)).toMatchObject({ state: 'possible', count: 1 })
  expect(record.credential).not.toBe(credential)
  expect(state).toMatchObject({ current: 1, reused: 0 })
  // The credential is requested again only if it was not stored.
  const isLost = point === 'commit:before' && nth === 4
  expect(issuer.at('credential')).toHaveLength(isLost ? 3 : 2)
  expect((await show(holder, recordId)).protocolState).toBe('CredentialReceived')
})
