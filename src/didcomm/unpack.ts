/**
 * Opens what arrives: authcrypt, anoncrypt, and the nestings DIDComm v2.1 allows (anoncrypt of authcrypt, a signed message
 * inside either), and enforces its rules of addressing consistency, so that a message that comes out of here was written
 * by whom it says, to us, or is marked as not authenticated.
 *
 * Only encrypted messages are taken. `Message Headers` of the specification would let a message pass whose `to` leaves us
 * out; `Message Layer Addressing Consistency` makes it an error, and so does this.
 */
import { Problem } from '../base/problem.ts'
import { reasonOf } from '../base/reason.ts'
import { didOf, type Resolve } from '../did/document.ts'
import { readJson } from './json.ts'
import { type Envelope, isJwe, openEnvelope, type OwnKey, parseEnvelope, toEnvelope } from './jwe.ts'
import { isJws, type Verified, verifyJws } from './jws.ts'
import { type PlaintextMessage, toMessage } from './message.ts'
import { refuse } from './refuse.ts'
import { getKey } from './sender.ts'

export type UnpackOptions = {
  /** Finds one of these keys among ours: those of the wallet that the message is for, and of no other. */
  findPrivateKey: (kids: string[]) => Promise<OwnKey | undefined>
  /** Resolves the sender's DID, which the sender chose: it must not be made to fetch from wherever that points. */
  resolve: Resolve
}

/** One layer of what arrived: how it was protected, for which keys, and by whose. */
export type EnvelopeLayer =
  | { type: 'authcrypt'; alg: string; enc: string; recipientKids: string[]; senderKid: string }
  | { type: 'anoncrypt'; alg: string; enc: string; recipientKids: string[] }
  | { type: 'signed'; signerKids: string[] }

export type Unpacked = {
  /** When `authenticated` is false, its `from` is a mere claim. */
  message: PlaintextMessage
  /** Our key that opened the innermost envelope. */
  recipientKid: string
  /** The key of the authcrypt layer; its DID is `message.from`. */
  senderKid?: string
  /** The key of the first signature; its DID is `message.from`. */
  signerKid?: string
  /** True when `message.from` is proven, by authcrypt or by a signature over a message that names us. */
  authenticated: boolean
  /** True when the outermost envelope hides who sent it. */
  anonymous: boolean
  /** From the outside in. */
  layers: EnvelopeLayer[]
}

/**
 * The recipient keys an envelope names, all of one DID, before anything is decrypted.
 *
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed` when it is not an encrypted message.
 */
export function recipientKids(envelope: string | Uint8Array | Envelope): string[] {
  return toParsed(envelope).kids
}

/**
 * Opens an envelope: the text as it came, or what `parseEnvelope` made of it.
 *
 * @throws {Problem} `error:DIDCommControllerError:RecipientNotFound` when none of its keys is ours.
 * @throws {Problem} `error:DIDCommControllerError:UnpackingFailed` with the reason, for everything else.
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

/** One envelope opened: its content as parsed JSON, and whose keys did it. */
type Layer = { content: unknown; recipientKid: string; senderKid: string | undefined }

async function open(envelope: Envelope, { findPrivateKey, resolve }: UnpackOptions): Promise<Layer> {
  const { kids, senderKid } = envelope
  const own = await findPrivateKey(kids)
  if (!own || !kids.includes(own.kid)) {
    const did = didOf(kids[0]!).slice(0, 500)
    throw new Problem(
      'error:DIDCommControllerError:RecipientNotFound',
      `No key of ours is among those of ${did} that the message is for.`,
    )
  }
  const senderJwk = senderKid === undefined ? undefined : await getKey(resolve, senderKid, 'keyAgreement')
  return {
    content: toJson(openEnvelope(envelope, own, senderJwk), 'the plaintext'),
    recipientKid: own.kid,
    senderKid,
  }
}

/** DIDComm v2.1, Message Layer Addressing Consistency. */
function checkAddressing(
  { from, to }: PlaintextMessage,
  { recipientKid, senderKid }: Layer,
  signed: Verified | undefined,
): void {
  const authors = [senderKid, signed?.signerKids[0]].filter((kid) => kid !== undefined)
  for (const kid of authors) {
    if (didOf(kid) !== from) refuse(`from is ${from ?? 'absent'}, but the message was made with ${kid}`)
  }
  const isAddressed = to !== undefined && to.length > 0
  if (isAddressed && !to.some((did) => didOf(did) === didOf(recipientKid)))
    refuse(`to does not name the DID of ${recipientKid}`)
  // Without `to`, whoever once received the signed message could encrypt it anew to us, as if its author had.
  if (signed && senderKid === undefined && !isAddressed)
    refuse('a signed message in an anoncrypt envelope needs a to')
}

function toParsed(envelope: string | Uint8Array | Envelope): Envelope {
  return typeof envelope === 'string' || envelope instanceof Uint8Array ? parseEnvelope(envelope) : envelope
}

function toJson(bytes: Uint8Array, what: string): unknown {
  try {
    return readJson(bytes)
  } catch (error) {
    refuse(`${what} ${reasonOf(error)}`, error)
  }
}
