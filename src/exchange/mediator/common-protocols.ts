/** Trust Ping 2.0, Discover Features 2.0, and messages that get no reply. */
import * as z from 'zod'
import { disclose, Queries, toProtocols } from '../didcomm/features.ts'
import { type Handler, readBody, threadOf } from './handler.ts'

const Ping = z.object({ response_requested: z.boolean().nullish() })

/** The protocols and roles that this mediator discloses. */
const features = toProtocols({
  'https://didcomm.org/coordinate-mediation/2.0': ['mediator'],
  'https://didcomm.org/coordinate-mediation/3.0': ['mediator'],
  'https://didcomm.org/messagepickup/3.0': ['mediator'],
  'https://didcomm.org/routing/2.0': ['mediator'],
  'https://didcomm.org/trust-ping/2.0': ['receiver'],
  'https://didcomm.org/discover-features/2.0': ['responder'],
  'https://didcomm.org/report-problem/2.0': ['notifier', 'notified'],
})

const onPing: Handler = async (_tx, _context, { message }) => {
  if (readBody(message, Ping).response_requested === false) return undefined
  return { type: 'https://didcomm.org/trust-ping/2.0/ping-response', thid: threadOf(message), body: {} }
}

const onQueries: Handler = async (_tx, _context, { message }) => ({
  type: 'https://didcomm.org/discover-features/2.0/disclose',
  thid: threadOf(message),
  body: { disclosures: disclose(features, readBody(message, Queries).queries) },
})

const ignore: Handler = async () => undefined

export const commonHandlers: Readonly<Record<string, Handler>> = {
  'https://didcomm.org/trust-ping/2.0/ping': onPing,
  'https://didcomm.org/trust-ping/2.0/ping-response': ignore,
  'https://didcomm.org/discover-features/2.0/queries': onQueries,
  'https://didcomm.org/report-problem/2.0/problem-report': ignore,
  'https://didcomm.org/empty/1.0/empty': ignore,
}
