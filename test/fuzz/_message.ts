/** Messages from a connected party that the agent's wallets are waiting for. */
import { randomUUID } from 'node:crypto'
import { issueJwtVc } from '../../src/credentials/codecs/jwt-vc.ts'
import { createJwtVp } from '../../src/credentials/codecs/jwt-vp.ts'
import { generateKey, sign, toPublic } from '../../src/foundation/crypto/keys.ts'
import {
  base64Attachment,
  jsonAttachment,
  type PlaintextMessage,
} from '../../src/exchange/didcomm/message.ts'
import { handlers } from '../../src/exchange/all-protocols.ts'
import {
  attachmentFormatOf,
  challengeAttachment,
  encodedAttachments,
} from '../../src/exchange/protocols/attachments.ts'
import { writeOffer } from '../../src/exchange/issuance/messages.ts'
import { writeRequest } from '../../src/exchange/presentation/messages.ts'
import type { Draw } from './_draw.ts'
import { createKeyDid } from '../../src/did/key.ts'

export type Message = Partial<PlaintextMessage> & Pick<PlaintextMessage, 'type'>

/** The unanswered messages of the party by type, and the other sources of message content. */
export type Threads = {
  take: (type: string) => PlaintextMessage | undefined
  find: (...names: string[]) => string
  did: string
  mediatorDid: string
  envelope: () => string
}

const org = 'https://didcomm.org'
const prism = 'https://didcomm.atalaprism.io/present-proof/3.0'
export const typesOf = {
  offer: `${org}/issue-credential/3.0/offer-credential`,
  request: `${org}/issue-credential/3.0/request-credential`,
  credential: `${org}/issue-credential/3.0/issue-credential`,
  proofRequest: `${prism}/request-presentation`,
  presentation: `${prism}/presentation`,
  connectionRequest: 'https://atalaprism.io/mercury/connections/1.0/request',
  connectionResponse: 'https://atalaprism.io/mercury/connections/1.0/response',
}

const key = generateKey('Ed25519')
const signer = createKeyDid(toPublic(key))
const options = () => ({ challenge: randomUUID(), domain: 'https://peer.example' })
const now = () => Math.floor(Date.now() / 1_000)
const vc = (subjectDid: string) =>
  issueJwtVc({
    issuerDid: signer,
    issuerKey: key,
    subjectDid,
    claims: { name: 'Alice' },
    schemas: [],
    validityPeriod: 3_600,
    now: now(),
  })

/** A signature of the party over a text, base64url. */
export const signText = (text: string) => Buffer.from(sign(key, Buffer.from(text))).toString('base64url')
export const signerDid = signer

/** Challenge and domain in the first attachment, if any. */
function optionsOf(message: PlaintextMessage | undefined): { challenge: string; domain: string } {
  const { json, base64 } = message?.attachments?.[0]?.data ?? {}
  const content = (json ??
    (base64 == null ? undefined : JSON.parse(Buffer.from(base64, 'base64').toString()))) as
    { options?: { challenge: string; domain: string } } | undefined
  return content?.options ?? options()
}

function proofFor(message: PlaintextMessage | undefined, credentials: string[]): string {
  const { challenge, domain } = optionsOf(message)
  return createJwtVp({
    holderDid: signer,
    holderKey: key,
    audience: domain,
    nonce: challenge,
    credentials,
    now: now(),
  })
}

/** Thread and sender of a received message, or an invented thread. */
function backTo(message: PlaintextMessage | undefined): Partial<PlaintextMessage> {
  return {
    thid: message?.thid ?? message?.id ?? randomUUID(),
    ...(message?.from !== undefined && { to: [message.from] }),
  }
}

/** Creates an answer to a received message, if there is one. */
function answer(message: PlaintextMessage | undefined, type: string, token: () => string): Message {
  return { type, ...backTo(message), attachments: [base64Attachment(randomUUID(), token(), 'prism/jwt')] }
}

const makers: Readonly<Record<string, (draw: Draw, threads: Threads) => Message>> = {
  'connection request': (_, { find }) => {
    const [thid = '', to] = find('an invitation').split(' ')
    return {
      type: typesOf.connectionRequest,
      thid,
      pthid: thid,
      body: { goal_code: 'connect' },
      ...(to?.startsWith('did:peer:2') && { to: [to] }),
    }
  },
  'connection response': (_, { take }) => ({
    type: typesOf.connectionResponse,
    thid: take(typesOf.connectionRequest)?.thid ?? randomUUID(),
  }),
  offer: (draw) => ({
    type: typesOf.offer,
    ...writeOffer(
      { claims: { name: 'Alice', age: 42 }, schemaIds: [] },
      challengeAttachment(options(), draw.of(['JWT', 'SDJWT'])).attachments,
    ),
  }),
  request: (_, { take }) => {
    const offered = take(typesOf.offer)
    return answer(offered, typesOf.request, () => proofFor(offered, []))
  },
  credential: (_, { take, find }) =>
    answer(take(typesOf.request), typesOf.credential, () => vc(find('longFormDid'))),
  'proof request': (draw) => {
    const asked = { options: options(), claims: { name: {} } }
    const attachments = draw.of([
      challengeAttachment(options(), 'JWT').attachments,
      encodedAttachments(asked, attachmentFormatOf('SDJWT')),
    ])
    return { type: typesOf.proofRequest, body: writeRequest({ proofs: [] }), attachments }
  },
  presentation: (_, { take }) => {
    const asked = take(typesOf.proofRequest)
    return answer(asked, typesOf.presentation, () => proofFor(asked, [vc(signer)]))
  },
  'basic message': () => ({
    type: `${org}/basicmessage/2.0/message`,
    body: { content: 'hello' },
    lang: 'en',
    created_time: now(),
  }),
  ping: (draw) => ({
    type: `${org}/trust-ping/2.${draw.below(3)}/ping`,
    body: { response_requested: draw.share(0.8) },
  }),
  'ping response': (_, { take }) => ({
    type: `${org}/trust-ping/2.0/ping-response`,
    ...backTo(take(`${org}/trust-ping/2.0/ping`)),
  }),
  queries: () => ({
    type: `${org}/discover-features/2.0/queries`,
    body: {
      queries: [
        { 'feature-type': 'protocol', match: 'https://didcomm.org/*' },
        { 'feature-type': 'goal-code', match: '*' },
      ],
    },
  }),
  'problem report': (_, { find }) => ({
    type: `${org}/report-problem/2.0/problem-report`,
    pthid: find('thid'),
    thid: find('thid'),
    body: { code: 'e.p.msg.refused', comment: 'no {1}', args: ['reason'] },
  }),
  revoke: (_, { find }) => ({
    type: 'https://atalaprism.io/revocation_notification/1.0/revoke',
    body: { issueCredentialProtocolThreadId: find('thid'), comment: 'revoked' },
  }),
  empty: () => ({ type: `${org}/empty/1.0/empty` }),
  known: (draw, { find }) => ({ type: draw.of(Object.keys(handlers)), thid: find('thid') }),
}

/** A message of a type that wallets handle. */
export function makeMessage(draw: Draw, threads: Threads): Message {
  return makers[draw.of(Object.keys(makers))]!(draw, threads)
}

const mediation = [`${org}/coordinate-mediation/2.0`, `${org}/coordinate-mediation/3.0`]
const pickup = `${org}/messagepickup/3.0`

const forMediator: Readonly<Record<string, (draw: Draw, threads: Threads) => Message>> = {
  enrol: (draw) => ({ type: `${draw.of(mediation)}/mediate-request` }),
  update: (draw, { did, find }) => ({
    type: draw.of([`${mediation[0]}/keylist-update`, `${mediation[1]}/recipient-update`]),
    body: {
      updates: [
        { recipient_did: draw.share(0.7) ? did : find('did'), action: draw.of(['add', 'add', 'remove']) },
      ],
    },
  }),
  query: (draw) => ({
    type: draw.of([`${mediation[0]}/keylist-query`, `${mediation[1]}/recipient-query`]),
    body: { paginate: { limit: 10, offset: 0 } },
  }),
  status: (_, { did }) => ({ type: `${pickup}/status-request`, body: { recipient_did: did } }),
  delivery: () => ({ type: `${pickup}/delivery-request`, body: { limit: 10 } }),
  received: (_, { find }) => ({
    type: `${pickup}/messages-received`,
    body: { message_id_list: [find('waiting id')] },
  }),
  live: (draw) => ({ type: `${pickup}/live-delivery-change`, body: { live_delivery: draw.share(0.5) } }),
  ping: () => ({ type: `${org}/trust-ping/2.0/ping`, body: { response_requested: true } }),
  queries: () => ({
    type: `${org}/discover-features/2.0/queries`,
    body: { queries: [{ 'feature-type': 'protocol', match: '*' }] },
  }),
  forward: (draw, { did, mediatorDid, envelope }) => ({
    type: `${org}/routing/2.0/forward`,
    body: { next: draw.share(0.9) ? did : mediatorDid },
    attachments: [{ id: randomUUID(), data: jsonAttachment('', JSON.parse(envelope()), '').data }],
  }),
}

/** A message of a type that mediators handle, with return route. */
export function makeMediatorMessage(draw: Draw, threads: Threads): Message {
  return { return_route: 'all', ...forMediator[draw.of(Object.keys(forMediator))]!(draw, threads) }
}
