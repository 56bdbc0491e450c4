/**
 * The types of the API, which follow from the routes. `build/declarations/write.ts` writes them as plain
 * TypeScript into `dist/client.d.ts`, so that users of the package need neither these sources nor zod.
 */
import type { CallInput } from '../../daemon/client/call.ts'
import type { Contract, Reply as ReplyOf } from '../../daemon/http/route.ts'
import type { Routes } from '../../daemon/routes/index.ts'
import type { StateOf } from '../../src/definitions/machine.ts'
import type { definitions } from '../../src/definitions/protocols.ts'

type Route = Routes[number]

/** Event streams, files and pages for people are not calls: `events` and `client.fetch` are for them. */
type KeyOf<R extends Route> = R['contract'] extends { stream: object }
  ? never
  : JsonKey<R['key'], R['contract']>
type JsonKey<K extends string, C extends Contract> = C extends {
  media: readonly (infer Media extends string)[]
}
  ? [Extract<Media, `${string}json${string}`>] extends [never]
    ? never
    : K
  : K

/** The inputs of the endpoints: `path`, `query`, `headers` and `body`, as far as an endpoint has them. */
export type Inputs = { [R in Route as KeyOf<R>]: CallInput<R['contract']> }

/** The bodies of successful responses of the endpoints. */
export type Replies = { [R in Route as KeyOf<R>]: ReplyOf<R['contract']> }

type Definition = (typeof definitions)[number]

/**
 * A message that a webhook with `deliver` sends to the person of an offer. Elsewhere it has no texts, and its
 * `url` or `code` is `***`.
 */
type MessageData = {
  recordId: string
  issuerId: string
  status: 'requested'
  /** A `mailto:` or `sms:` URI. */
  to: string
  locale: string
  /** When the offer ends. */
  until: string
  subject?: string
  text?: string
  html?: string
}

/** The data of events by their type: the record or the DID as the change left it. */
export type EventData = {
  [D in Definition as D['event']]: Replies[D['resource']['route']]
} & {
  DIDStatusUpdated: Replies['GET /did-registrar/dids/{didRef}']
  DidRequestUpdated: Replies['GET /onboard/did-requests/{didRequestId}']
  AuthenticationChallengeUpdated: Replies['GET /did-authentication/challenges/{challengeId}']
  OfferDeliveryRequested: MessageData & { url: string }
  TransactionCodeDeliveryRequested: MessageData & { code: string }
}

/** The states of records by the type of their events. */
export type RecordStates = { [D in Definition as D['event']]: StateOf<D> }
