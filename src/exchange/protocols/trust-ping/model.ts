/** Trust pings: the request of the API and the REST resource (extension). */
import type { Selectable } from 'kysely'
import * as z from 'zod'
import type { WalletTables } from '../../../foundation/storage/wallet-tables.ts'
import { optional } from '../../../wallet/model.ts'

export const trustPing = {
  name: 'trust-ping',
  messages: {
    ping: 'https://didcomm.org/trust-ping/2.0/ping',
    'ping-response': 'https://didcomm.org/trust-ping/2.0/ping-response',
  },
} as const

export const SendPing = z
  .object({
    connectionId: optional(z.guid()).describe('The connection to ping.'),
    did: optional(z.string().min(1).max(10_000)).describe(
      'The DID to ping, from a new DID for this ping only.',
    ),
  })
  .refine(
    ({ connectionId, did }) => (connectionId === undefined) !== (did === undefined),
    'needs one of connectionId and did',
  )
  .meta({ id: 'SendPingRequest' })
export type SendPing = { connectionId?: string | undefined; did?: string | undefined }

export const Ping = z
  .object({
    id: z.guid(),
    thid: z.string(),
    connectionId: z.string().optional(),
    did: z.string().describe('The pinged DID.'),
    sentAt: z.iso.datetime().describe('When this agent accepted the ping.'),
    answeredAt: z.iso.datetime().optional(),
    failure: z.string().optional().describe('Why the ping was abandoned.'),
  })
  .meta({ id: 'Ping' })
export type Ping = z.infer<typeof Ping>

export type PingRow = Selectable<WalletTables['ping']>

/** The REST resource of a ping. */
export function toPing(row: PingRow): Ping {
  return {
    id: row.id,
    thid: row.thid,
    connectionId: row.connection_id ?? undefined,
    did: row.their_did,
    sentAt: row.sent_at,
    answeredAt: row.answered_at ?? undefined,
    failure: row.failure ?? undefined,
  }
}
