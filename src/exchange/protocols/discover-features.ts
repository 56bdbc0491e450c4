/** Discover Features 2.0: tells the other side of a connection which protocols this agent supports. */
import { disclose, Queries, toProtocols, type Disclosure } from '../didcomm/features.ts'
import { readBody, type Handler } from '../engine/receive.ts'
import { enqueueReply } from './stateless-message.ts'
import { requireKnownSender } from './peers.ts'

export const discoverFeatures = {
  name: 'discover-features',
  messages: {
    queries: 'https://didcomm.org/discover-features/2.0/queries',
    disclose: 'https://didcomm.org/discover-features/2.0/disclose',
  },
} as const

/** Handles queries: replies with the matching features, or an empty list. */
export const onQueries: Handler = async (wallet, message) => {
  await requireKnownSender(wallet.db, message)
  const { queries: asked } = readBody(message, Queries, 'message of queries')
  const body = { disclosures: disclose(featuresOf(wallet.env.config.DIDCOMM_MAX_RECEIVE_BYTES), asked) }
  const answer = { type: discoverFeatures.messages.disclose, thid: message.thid, body }
  return (tx) => enqueueReply(tx, message, discoverFeatures.name, answer)
}

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
    ...toProtocols(protocols),
    { 'feature-type': 'constraint', id: 'max_receive_bytes', value: String(maxReceiveBytes) },
  ]
}
