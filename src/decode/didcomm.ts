/** Invitations and messages of DIDComm v2. */
import { isJsonObject, type JsonObject, parseJson } from '../base/json.ts'
import { fromBase64 } from '../base/bytes.ts'
import { reasonOf } from '../base/reason.ts'
import { attachmentBytes, type Attachment, type PlaintextMessage, toMessage } from '../didcomm/message.ts'
import { toEnvelope } from '../didcomm/jwe.ts'
import { verifyJws } from '../didcomm/jws.ts'
import { invitationType, type OutOfBandInvitation, readEmbedded } from '../didcomm/invitation.ts'
import {
  type Check,
  type Decode,
  type Decoded,
  type Facts,
  reading,
  type Sources,
  textOf,
  timeOf,
} from './decoded.ts'

const unsigned: Check = { name: 'signature', result: 'not verified', detail: 'an invitation is not signed' }

/** @throws {DecodeError} */
export async function decodeInvitation(
  read: () => OutOfBandInvitation,
  sources: Sources,
  decode: Decode,
): Promise<Decoded> {
  const form = 'a DIDComm invitation'
  const invitation = reading(form, 'content', read)
  const { id, from, body, created_time: created, expires_time: expires } = invitation
  const embedded = reading(form, 'attached message', () => readEmbedded(invitation))
  return {
    kind: 'invitation',
    title: 'DIDComm invitation (out-of-band 2.0)',
    facts: {
      id,
      goal: body.goal,
      'goal code': body.goal_code,
      from,
      accepts: body.accept,
      created: timeOf(created),
      expires: timeOf(expires),
      attached: embedded?.type,
    },
    checks: [unsigned],
    content: { document: invitation },
    // The inviter's DID tells where the answer goes.
    parts: [await decode(from, sources), ...(embedded ? [toPlaintext(embedded)] : [])],
  }
}

/** A message in JSON: encrypted, signed or plain. @throws {DecodeError} */
export async function decodeMessage(value: JsonObject, sources: Sources, decode: Decode): Promise<Decoded> {
  if ('ciphertext' in value) return decodeEncrypted(value)
  if ('payload' in value) return decodeSigned(value, sources, decode)
  return toPlaintext(reading('a DIDComm message', 'content', () => toMessage(value)))
}

function toPlaintext(message: PlaintextMessage): Decoded {
  const { id, type, from, to, thid, pthid, created_time: created, expires_time: expires } = message
  return {
    kind: 'didcomm-plain',
    title: type === invitationType ? 'DIDComm invitation' : 'DIDComm message, not encrypted',
    facts: {
      type,
      id,
      from,
      to,
      thread: thid,
      'parent thread': pthid,
      created: timeOf(created),
      expires: timeOf(expires),
      attachments: message.attachments?.map(describeAttachment),
    },
    checks: [
      { name: 'sender', result: 'not verified', detail: 'the message is neither encrypted nor signed' },
    ],
    content: { message },
    parts: [],
  }
}

function describeAttachment(attachment: Attachment): string {
  const { id, format, media_type: type, data } = attachment
  const size =
    data.base64 != null || data.json != null ? `${attachmentBytes(attachment).length} bytes` : 'a link'
  return [id ?? 'without id', format ?? type, size].filter(Boolean).join(' · ')
}

/** Only the recipient can read more than the header. */
function decodeEncrypted(value: JsonObject): Decoded {
  const { kids, senderKid, header } = reading('an encrypted DIDComm message', 'envelope', () =>
    toEnvelope(value),
  )
  return {
    kind: 'didcomm-encrypted',
    title: `DIDComm message, encrypted (${senderKid === undefined ? 'anoncrypt' : 'authcrypt'}): only its header can be read`,
    facts: {
      algorithm: header.alg,
      encryption: header.enc,
      'ephemeral key': header.epk.crv,
      'sender key': senderKid,
      'recipient keys': kids,
    },
    checks: [
      {
        name: 'content',
        result: 'not verified',
        detail: 'agent didcomm unpack decrypts a message of your wallet',
      },
    ],
    content: { header },
    parts: [],
  }
}

async function decodeSigned(value: JsonObject, sources: Sources, decode: Decode): Promise<Decoded> {
  const form = 'a signed message (JWS in JSON)'
  const payload = reading(form, 'payload', () => {
    const inner = parseJson(fromBase64(String(value['payload'])))
    if (!isJsonObject(inner)) throw new TypeError('is not a JSON object')
    return inner
  })
  const facts: Facts = { signers: undefined }
  let isResolved = true
  const resolve = (did: string) =>
    sources.resolver.document(did).catch((error: unknown) => {
      isResolved = false
      throw error
    })
  const signature = await verifyJws(value, resolve).then(
    ({ signerKids }): Check => {
      facts['signers'] = textOf(signerKids)
      return { name: 'signature', result: 'passed', detail: `made by ${signerKids.join(', ')}` }
    },
    (error: unknown): Check => ({
      name: 'signature',
      result: isResolved ? 'failed' : 'not verified',
      detail: reasonOf(error),
    }),
  )
  return {
    kind: 'didcomm-signed',
    title: 'DIDComm message, signed',
    facts,
    checks: [signature],
    content: {},
    parts: [await decode(JSON.stringify(payload), sources)],
  }
}
