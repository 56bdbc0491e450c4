/** Daemons that die during a request of a wallet, and what they have issued. */
import type { Daemon } from '../../support/daemon.ts'
import { withProbe } from '../../support/kill-points.ts'
import { recordOf, type Setup } from './_wallet.ts'

/** Variables of a daemon that `killDuring` can kill. */
export const killable = { ...withProbe, FAULTS: JSON.stringify({ awaits: true }) }

/**
 * Sends a request that kills the daemon at its nth pass of a point. Returns whether it was killed; then it is
 * started again.
 */
export async function killDuring(
  daemon: Daemon,
  [point, nth]: readonly [point: string, nth: number],
  send: () => Promise<unknown>,
): Promise<boolean> {
  await daemon.exchange({ type: 'kill', kill: { point, nth } })
  const isKilled = await send().then(
    () => false,
    () => true,
  )
  if (!isKilled) await daemon.exchange({ type: 'kill' })
  else {
    await daemon.ended
    await daemon.start()
  }
  return isKilled
}

/** How often the record became `CredentialSent`. */
export async function countIssued(setup: Setup, recordId: string): Promise<number> {
  const { thid } = await recordOf(setup, recordId)
  const { steps } = await setup.tenant.call('GET /traces/{id}', { path: { id: thid } })
  const sent = steps.filter(
    (step) => step.kind === 'state' && step.recordId === recordId && step.to === 'CredentialSent',
  )
  return sent.length
}
