/**
 * Unpacks encrypted messages: authcrypt, anoncrypt, anoncrypt of authcrypt, and a signed message in any of
 * these (DIDComm v2.1, "Message Types"). The result is authenticated and addressed to the recipient ("Message
 * Layer Addressing Consistency"), or marked as not authenticated.
 *
 * Messages that are not encrypted are refused.
 */
import { Problem } from '../../foundation/problem.ts'
import { reasonOf } from '../../foundation/reason.ts'
import { didOf, type Resolve } from '../../did/document.ts'
import { getKey } from './jose.ts'
import { parseJson } from '../../foundation/json.ts'
import { type Envelope, isJwe, openEnvelope, parseEnvelope, type PrivateKey, toEnvelope } from './jwe.ts'
import { isJws, type VerifiedJws, verifyJws } from './jws.ts'
import { type PlaintextMessage, toMessage, refuse } from './message.ts'

export type UnpackOptions = {
  /** Finds the private key of one of these ids, in the wallet that the message is for. */
  findPrivateKey: (kids: string[]) => Promise<PrivateKey | undefined>
  /** Resolves the sender's DID. The sender chooses it, so this must not fetch from arbitrary hosts. */
  resolve: Resolve
}

/** A layer of the message: its protection, its recipient keys, and the key of its sender. */
export type EnvelopeLayer =
  | { type: 'authcrypt'; alg: string; enc: string; recipientKids: string[]; senderKid: string }
  | { type: 'anoncrypt'; alg: string; enc: string; recipientKids: string[] }
  | { type: 'signed'; signerKids: string[] }

export type Unpacked = {
  /** Its `from` is unproven unless `authenticated` is true. */
  message: PlaintextMessage
  /** The id of the key that decrypted the innermost envelope. */
  recipientKid: string
  /** The sender's key of the authcrypt layer. Its DID is `message.from`. */
  senderKid?: string
  /** The key of the first signature. Its DID is `message.from`. */
  signerKid?: string
  /** True when authcrypt, or a signature over a message with `to`, proves `message.from`. */
  authenticated: boolean
  /** True when the outermost envelope is anoncrypt. */
  anonymous: boolean
  /** The outermost layer is the first. */
  layers: EnvelopeLayer[]
}

/** The ids of an envelope's recipient keys, all of one DID. @throws {Problem} `UnpackingFailed` */
export function recipientKids(envelope: string | Uint8Array | Envelope): string[] {
  return toParsed(envelope).kids
}

/**
 * Decrypts and authenticates a message, given as JSON text or as a parsed envelope.
 *
 * @throws {Problem} `error:DIDCommControllerError:RecipientNotFound` when `findPrivateKey` has none of its
 * keys.
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed` with the reason, for every other fault of
 * the message.
 */
export async function unpack(
  envelope: string | Uint8Array | Envelope,
  options: UnpackOptions,
): Promise<Unpacked> {
  const outer = toParsed(envelope)
  const layers: EnvelopeLayer[] = [layerOf(outer)]
  let layer = await open(outer, options)
  if (isJwe(layer.content)) {
    if (outer.senderKid !== undefined) refuse('an authcrypt envelope holds another envelope')
    const inner = toEnvelope(layer.content)
    if (inner.senderKid === undefined) refuse('an anoncrypt envelope holds another one')
    if (didOf(inner.kids[0]!) !== didOf(outer.kids[0]!)) refuse('the two envelopes are for different DIDs')
    layer = await open(inner, options)
    layers.push(layerOf(inner))
  }
  const signed = isJws(layer.content) ? await verifyJws(layer.content, options.resolve) : undefined
  if (signed) layers.push({ type: 'signed', signerKids: signed.signerKids })
  const message = toMessage(signed ? toJson(signed.payload, 'the signed message') : layer.content)
  checkAddressing(message, layer, signed)
  const signerKid = signed?.signerKids[0]
  return {
    message,
    recipientKid: layer.recipientKid,
    ...(layer.senderKid !== undefined && { senderKid: layer.senderKid }),
    ...(signerKid !== undefined && { signerKid }),
    authenticated: layer.senderKid !== undefined || signerKid !== undefined,
    anonymous: outer.senderKid === undefined,
    layers,
  }
}

function layerOf({ kids: recipientKids, senderKid, header: { alg, enc } }: Envelope): EnvelopeLayer {
  return senderKid === undefined
    ? { type: 'anoncrypt', alg, enc, recipientKids }
    : { type: 'authcrypt', alg, enc, recipientKids, senderKid }
}

/** A decrypted envelope: its content as parsed JSON, and the keys of recipient and sender. */
type Layer = { content: unknown; recipientKid: string; senderKid: string | undefined }

async function open(envelope: Envelope, { findPrivateKey, resolve }: UnpackOptions): Promise<Layer> {
  const { kids, senderKid } = envelope
  const recipient = await findPrivateKey(kids)
  if (!recipient || !kids.includes(recipient.kid)) {
    const did = didOf(kids[0]!).slice(0, 500)
    throw new Problem(
      'error:DIDCommControllerError:RecipientNotFound',
      `This agent has none of the keys of ${did} that the message is encrypted for.`,
    )
  }
  const senderJwk = senderKid === undefined ? undefined : await getKey(resolve, senderKid, 'keyAgreement')
  return {
    content: toJson(openEnvelope(envelope, recipient, senderJwk), 'the plaintext'),
    recipientKid: recipient.kid,
    senderKid,
  }
}

/** DIDComm v2.1, "Message Layer Addressing Consistency". */
function checkAddressing(
  { from, to }: PlaintextMessage,
  { recipientKid, senderKid }: Layer,
  signed: VerifiedJws | undefined,
): void {
  const authors = [senderKid, signed?.signerKids[0]].filter((kid) => kid !== undefined)
  for (const kid of authors) {
    if (didOf(kid) !== from) refuse(`from is ${from ?? 'absent'}, but the message was made with ${kid}`)
  }
  const isAddressed = to !== undefined && to.length > 0
  if (isAddressed && !to.some((did) => didOf(did) === didOf(recipientKid)))
    refuse(`to does not name the DID of ${recipientKid}`)
  // Without `to`, an earlier recipient of the signed message could encrypt it to others as if the author had.
  if (signed && senderKid === undefined && !isAddressed)
    refuse('a signed message in an anoncrypt envelope needs a to')
}

function toParsed(envelope: string | Uint8Array | Envelope): Envelope {
  return typeof envelope === 'string' || envelope instanceof Uint8Array ? parseEnvelope(envelope) : envelope
}

function toJson(bytes: Uint8Array, name: string): unknown {
  try {
    return parseJson(bytes)
  } catch (error) {
    refuse(`${name} ${reasonOf(error)}`, error)
  }
}
