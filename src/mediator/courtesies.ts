/** What every agent answers: trust ping 2.0, discover features 2.0; and what needs no answer (wire.md 7). */
import { z } from 'zod'
import { threadOf } from './reply.ts'
import { readBody, type Handler } from './request.ts'

const Ping = z.object({ response_requested: z.boolean().nullish() })
const Queries = z.object({
  queries: z.array(z.looseObject({ 'feature-type': z.string(), match: z.string() })).max(100),
})

/** What this mediator speaks, and as whom. */
const protocols = [
  { id: 'https://didcomm.org/coordinate-mediation/2.0', roles: ['mediator'] },
  { id: 'https://didcomm.org/coordinate-mediation/3.0', roles: ['mediator'] },
  { id: 'https://didcomm.org/messagepickup/3.0', roles: ['mediator'] },
  { id: 'https://didcomm.org/routing/2.0', roles: ['mediator'] },
  { id: 'https://didcomm.org/trust-ping/2.0', roles: ['receiver'] },
  { id: 'https://didcomm.org/discover-features/2.0', roles: ['responder'] },
  { id: 'https://didcomm.org/report-problem/2.0', roles: ['notifier', 'notified'] },
]

const onPing: Handler = async (_tx, _house, { message }) => {
  if (readBody(message, Ping).response_requested === false) return undefined
  return { type: 'https://didcomm.org/trust-ping/2.0/ping-response', thid: threadOf(message), body: {} }
}

const onQueries: Handler = async (_tx, _house, { message }) => {
  const wanted = readBody(message, Queries).queries.filter((query) => query['feature-type'] === 'protocol')
  const found = protocols.filter(({ id }) => wanted.some(({ match }) => fits(id, match)))
  return {
    type: 'https://didcomm.org/discover-features/2.0/disclose',
    thid: threadOf(message),
    body: { disclosures: found.map(({ id, roles }) => ({ 'feature-type': 'protocol', id, roles })) },
  }
}

/** `*` stands for anything, also in the spelling `.*` of those who send a regular expression (wire.md 7). */
function fits(id: string, match: string): boolean {
  const [first, ...rest] = match.slice(0, 200).replaceAll('.*', '*').split('*')
  if (rest.length === 0) return id === first
  const last = rest.pop()!
  if (!id.startsWith(first!) || !id.endsWith(last)) return false
  let place = first!.length
  for (const part of rest) {
    place = id.indexOf(part, place)
    if (place < 0) return false
    place += part.length
  }
  return place <= id.length - last.length
}

const nothing: Handler = async () => undefined

/** Message type → handler. */
export const courtesyHandlers: Readonly<Record<string, Handler>> = {
  'https://didcomm.org/trust-ping/2.0/ping': onPing,
  'https://didcomm.org/trust-ping/2.0/ping-response': nothing,
  'https://didcomm.org/discover-features/2.0/queries': onQueries,
  'https://didcomm.org/report-problem/2.0/problem-report': nothing,
  'https://didcomm.org/empty/1.0/empty': nothing,
}
