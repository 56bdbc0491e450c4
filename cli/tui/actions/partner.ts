/** The other side of an offer or a request: a connection, or anyone by an invitation. */
import { connectionName } from '../../format/names.ts'
import { meanings } from '../../format/states.ts'
import type { Desk } from './action.ts'

/** The id of a connection, `null` for an invitation, nothing when the question is left. */
export function choosePartner(
  desk: Desk,
  title: string,
): Promise<{ connectionId: string | null } | undefined> {
  const connected = desk.data().connections.filter(({ state }) => meanings.connection[state]?.ends === 0)
  return desk.choose<{ connectionId: string | null }>(title, [
    ...connected.toReversed().map((connection) => ({
      label: connectionName(connection),
      detail: connection.connectionId,
      value: { connectionId: connection.connectionId },
    })),
    { label: 'Anyone', detail: 'creates an invitation, as a QR code', value: { connectionId: null } },
  ])
}
