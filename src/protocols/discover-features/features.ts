/** What this agent discloses of itself (Discover Features 2.0): the protocols it speaks, in which roles, and how much it takes. */
import { matches } from './match.ts'

/** A disclosure, as it is written; `roles` for protocols, `value` for constraints. */
export type Disclosure = { 'feature-type': string; id: string; roles?: string[]; value?: string }

/** Protocols and our roles in them, by the words of their specifications. */
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

/** Everything there is to disclose; `maxReceiveBytes` is the size of the largest message that is taken. */
export function featuresOf(maxReceiveBytes: number): Disclosure[] {
  return [
    ...Object.entries(protocols).map(([id, roles]) => ({ 'feature-type': 'protocol', id, roles })),
    { 'feature-type': 'constraint', id: 'max_receive_bytes', value: String(maxReceiveBytes) },
  ]
}

/** What answers a list of queries: every feature that one of them asks for, once. */
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
