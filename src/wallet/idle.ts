/**
 * Waiting for the users of something that is to be closed.
 *
 * A node that loses its lease twice in a short time closes its wallets twice, and both closings wait for the
 * same users.
 */

/** `onIdle` is to be called when there are no users any more. */
export type Used = { users: number; onIdle?: () => void }

/** Resolves when there are no users. Several callers may wait. */
export async function becomesIdle(used: Used): Promise<void> {
  if (used.users === 0) return
  const earlier = used.onIdle
  await new Promise<void>((resolve) => {
    used.onIdle = () => {
      earlier?.()
      resolve()
    }
  })
}
