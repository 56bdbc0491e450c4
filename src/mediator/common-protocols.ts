/** Trust Ping 2.0, Discover Features 2.0, and messages that get no reply. */
import * as z from 'zod'
import { type Handler, readBody, threadOf } from './handler.ts'

const Ping = z.object({ response_requested: z.boolean().nullish() })
const Queries = z.object({
  queries: z.array(z.looseObject({ 'feature-type': z.string(), match: z.string() })).max(100),
})

/** The protocols and roles that this mediator discloses. */
const protocols = [
  { id: 'https://didcomm.org/coordinate-mediation/2.0', roles: ['mediator'] },
  { id: 'https://didcomm.org/coordinate-mediation/3.0', roles: ['mediator'] },
  { id: 'https://didcomm.org/messagepickup/3.0', roles: ['mediator'] },
  { id: 'https://didcomm.org/routing/2.0', roles: ['mediator'] },
  { id: 'https://didcomm.org/trust-ping/2.0', roles: ['receiver'] },
  { id: 'https://didcomm.org/discover-features/2.0', roles: ['responder'] },
  { id: 'https://didcomm.org/report-problem/2.0', roles: ['notifier', 'notified'] },
]

const onPing: Handler = async (_tx, _context, { message }) => {
  if (readBody(message, Ping).response_requested === false) return undefined
  return { type: 'https://didcomm.org/trust-ping/2.0/ping-response', thid: threadOf(message), body: {} }
}

const onQueries: Handler = async (_tx, _context, { message }) => {
  const queries = readBody(message, Queries).queries.filter((query) => query['feature-type'] === 'protocol')
  const disclosed = protocols.filter(({ id }) => queries.some(({ match }) => isMatch(id, match)))
  return {
    type: 'https://didcomm.org/discover-features/2.0/disclose',
    thid: threadOf(message),
    body: { disclosures: disclosed.map(({ id, roles }) => ({ 'feature-type': 'protocol', id, roles })) },
  }
}

/** Matches with the wildcard `*` (Discover Features 2.0). Some peers write it as `.*`. */
function isMatch(id: string, match: string): boolean {
  const [first, ...rest] = match.slice(0, 200).replaceAll('.*', '*').split('*')
  if (rest.length === 0) return id === first
  const last = rest.pop()!
  if (!id.startsWith(first!) || !id.endsWith(last)) return false
  let end = first!.length
  for (const part of rest) {
    end = id.indexOf(part, end)
    if (end < 0) return false
    end += part.length
  }
  return end <= id.length - last.length
}

const ignore: Handler = async () => undefined

/** Handlers by message type. */
export const commonHandlers: Readonly<Record<string, Handler>> = {
  'https://didcomm.org/trust-ping/2.0/ping': onPing,
  'https://didcomm.org/trust-ping/2.0/ping-response': ignore,
  'https://didcomm.org/discover-features/2.0/queries': onQueries,
  'https://didcomm.org/report-problem/2.0/problem-report': ignore,
  'https://didcomm.org/empty/1.0/empty': ignore,
}
