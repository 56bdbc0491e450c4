/** Discover Features 2.0: tells the other side of a connection which protocols this agent supports. */
import * as z from 'zod'
import { readBody, type Handler } from '../engine/receive.ts'
import { enqueueReply } from '../notice.ts'
import { requireKnownSender } from '../peers.ts'

export const discoverFeatures = {
  name: 'discover-features',
  messages: {
    queries: 'https://didcomm.org/discover-features/2.0/queries',
    disclose: 'https://didcomm.org/discover-features/2.0/disclose',
  },
} as const

const QueriesBody = z.looseObject({
  queries: z.array(z.looseObject({ 'feature-type': z.string(), match: z.string() })).max(100),
})

/** Handles queries: replies with the matching features, or an empty list. */
export const onQueries: Handler = async (wallet, message) => {
  await requireKnownSender(wallet.db, message)
  const { queries: asked } = readBody(message, QueriesBody, 'message of queries')
  const body = { disclosures: disclose(featuresOf(wallet.env.config.DIDCOMM_MAX_RECEIVE_BYTES), asked) }
  const answer = { type: discoverFeatures.messages.disclose, thid: message.thid, body }
  return (tx) => enqueueReply(tx, message, discoverFeatures.name, answer)
}

/** A disclosure: `roles` for protocols, `value` for constraints. */
export type Disclosure = { 'feature-type': string; id: string; roles?: string[]; value?: string }

/** The supported protocols and roles, in the terms of their specifications. */
const protocols: Readonly<Record<string, string[]>> = {
  'https://didcomm.org/out-of-band/2.0': ['sender', 'receiver'],
  'https://atalaprism.io/mercury/connections/1.0': ['inviter', 'invitee'],
  'https://didcomm.org/issue-credential/3.0': ['issuer', 'holder'],
  'https://didcomm.atalaprism.io/present-proof/3.0': ['verifier', 'prover'],
  'https://didcomm.org/present-proof/3.0': ['verifier', 'prover'],
  'https://atalaprism.io/revocation_notification/1.0': ['holder'],
  'https://didcomm.org/routing/2.0': ['sender'],
  'https://didcomm.org/report-problem/2.0': ['notifier', 'notified'],
  'https://didcomm.org/trust-ping/2.0': ['sender', 'receiver'],
  'https://didcomm.org/discover-features/2.0': ['responder'],
  'https://didcomm.org/basicmessage/2.0': ['sender', 'receiver'],
  'https://didcomm.org/empty/1.0': ['sender', 'receiver'],
}

/** All features. `maxReceiveBytes` is the largest accepted message. */
export function featuresOf(maxReceiveBytes: number): Disclosure[] {
  return [
    ...Object.entries(protocols).map(([id, roles]) => ({ 'feature-type': 'protocol', id, roles })),
    { 'feature-type': 'constraint', id: 'max_receive_bytes', value: String(maxReceiveBytes) },
  ]
}

/** The features that match one of the queries. */
export function disclose(
  features: readonly Disclosure[],
  queries: readonly { 'feature-type': string; match: string }[],
): Disclosure[] {
  return features.filter((feature) =>
    queries.some(
      (query) => query['feature-type'] === feature['feature-type'] && matches(query.match, feature.id),
    ),
  )
}

/** The longest accepted query, in characters. */
const maxLength = 500

/**
 * Whether a feature's id matches a query. The specification allows `*` at the end; a widespread mediator accepts regular expressions, and its
 * peers send `.*routing.*`. Both `*` and `.*` match any text here. No regular expression is built from a peer's text.
 */
export function matches(match: string, id: string): boolean {
  if (match.length > maxLength) return false
  const pattern = match.replace(/^\^/, '').replace(/\$$/, '').replaceAll('\\', '')
  const [first, ...rest] = pattern.split(/\.?\*/)
  const last = rest.pop()
  if (last === undefined) return pattern === id
  if (!id.startsWith(first!) || !id.endsWith(last)) return false
  // The first occurrence of a piece leaves the most text for the pieces after it.
  let at = first!.length
  for (const piece of rest) {
    const found = id.indexOf(piece, at)
    if (found < 0) return false
    at = found + piece.length
  }
  return at <= id.length - last.length
}
