/** Trust ping 2.0 (wire.md 7): is the other side of a connection there? */
import { z } from 'zod'
import { Problem } from '../../base/problem.ts'
import type { Wallet } from '../../wallet/wallet.ts'
import { connection, type Ping } from '../connection/model.ts'
import { getPeers } from '../connection/peers.ts'
import { getRecord } from '../find.ts'
import { getSenders, mustKnow, putAnswer, putNotice } from '../notice.ts'
import type { Handler } from '../receive.ts'
import { amend } from '../record.ts'

export const trustPing = {
  name: 'trust-ping',
  messages: {
    ping: 'https://didcomm.org/trust-ping/2.0/ping',
    'ping-response': 'https://didcomm.org/trust-ping/2.0/ping-response',
  },
} as const

const PingBody = z.looseObject({ response_requested: z.boolean().nullish() })

/** Pings the other side of a connection; its answer shows in `getPing`. @throws {Problem} when the connection cannot be used. */
export async function pingConnection(wallet: Wallet, connectionId: string): Promise<Ping> {
  const { myDid: from, theirDid: to } = await getPeers(wallet.db, connectionId)
  const message = { type: trustPing.messages.ping, body: { response_requested: true } }
  return wallet.transaction(async (tx) => {
    const id = await putNotice(tx, { protocol: trustPing.name, recordId: connectionId, from, to, message })
    const ping = { id, sentAt: new Date().toISOString() }
    await amend(tx, connection, await getRecord(tx, connection, connectionId), { ping })
    return ping
  })
}

/** The last ping of a connection. @throws {Problem} 404 when there is no such connection, or none was sent. */
export async function getPing(wallet: Wallet, connectionId: string): Promise<Ping> {
  const { ping } = await getRecord(wallet.db, connection, connectionId)
  if (!ping) throw new Problem('NotFound', `The connection ${connectionId} has not been pinged.`)
  return ping
}

/** Answers, unless that is not wanted. A body that cannot be read says nothing of the kind. */
export const onPing: Handler = async (wallet, message) => {
  await mustKnow(wallet.db, message)
  const isWanted = PingBody.safeParse(message.body).data?.response_requested !== false
  const answer = { type: trustPing.messages['ping-response'], thid: message.thid, body: {} }
  return async (tx) => isWanted && putAnswer(tx, message, trustPing.name, answer)
}

/** Notes that the last ping was answered; an answer to any other changes nothing. */
export const onPingResponse: Handler = async (wallet, message) => {
  const { connectionId } = await getSenders(wallet.db, message)
  return async (tx) => {
    const record = await getRecord(tx, connection, connectionId)
    if (record.ping?.id !== message.thid || record.ping.answeredAt !== undefined) return
    await amend(tx, connection, record, { ping: { ...record.ping, answeredAt: new Date().toISOString() } })
  }
}
