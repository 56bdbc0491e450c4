/** With whom something is begun: over a connection, or with whoever takes an invitation. */
import { meanings } from '../../commands/_format/states.ts'
import type { Desk } from './action.ts'

/** The id of a connection, `null` for an invitation, nothing when the question is left. */
export function choosePartner(desk: Desk, title: string): Promise<{ connectionId: string | null } | undefined> {
  const connected = desk.data().connections.filter(({ state }) => meanings.connection[state]?.ends === 0)
  return desk.choose<{ connectionId: string | null }>(title, [
    ...connected.toReversed().map(({ connectionId, label, goal }) => ({
      label: label ?? goal ?? '(no label)',
      detail: connectionId,
      value: { connectionId },
    })),
    { label: 'whoever takes an invitation', detail: 'shown as a QR code', value: { connectionId: null } },
  ])
}
