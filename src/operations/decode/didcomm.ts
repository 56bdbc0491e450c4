/** Invitations and messages of DIDComm v2. */
import { isJsonObject, type JsonObject, parseJson } from '../../foundation/json.ts'
import { fromBase64 } from '../../foundation/bytes.ts'
import { reasonOf } from '../../foundation/reason.ts'
import {
  attachmentBytes,
  type Attachment,
  type PlaintextMessage,
  toMessage,
} from '../../exchange/didcomm/message.ts'
import { toEnvelope } from '../../exchange/didcomm/jwe.ts'
import { verifyJws } from '../../exchange/didcomm/jws.ts'
import { invitationType, type OutOfBandInvitation, readEmbedded } from '../../exchange/didcomm/invitation.ts'
import {
  type Check,
  type Decoded,
  decodedOf,
  type Facts,
  reading,
  type Sources,
  textOf,
  timeOf,
} from './decoded.ts'

const notVerified = (name: string, detail: string): Check => ({ name, result: 'not verified', detail })

const unsigned = notVerified('signature', 'an invitation is not signed')

/** @throws {DecodeError} */
export async function decodeInvitation(read: () => OutOfBandInvitation, sources: Sources): Promise<Decoded> {
  const form = 'a DIDComm invitation'
  const invitation = reading(form, 'content', read)
  const { id, from, body, created_time: created, expires_time: expires } = invitation
  const embedded = reading(form, 'attached message', () => readEmbedded(invitation))
  const facts = {
    id,
    goal: body.goal,
    'goal code': body.goal_code,
    from,
    accepts: body.accept,
    created: timeOf(created),
    expires: timeOf(expires),
    attached: embedded?.type,
  }
  return decodedOf('invitation', 'DIDComm invitation (out-of-band 2.0)', facts, {
    checks: [unsigned],
    content: { document: invitation },
    // The inviter's DID tells where the answer goes.
    parts: [await sources.decode(from), ...(embedded ? [toPlaintext(embedded)] : [])],
  })
}

/** A message in JSON: encrypted, signed or plain. @throws {DecodeError} */
export async function decodeMessage(value: JsonObject, sources: Sources): Promise<Decoded> {
  if ('ciphertext' in value) return decodeEncrypted(value)
  if ('payload' in value) return decodeSigned(value, sources)
  return toPlaintext(reading('a DIDComm message', 'content', () => toMessage(value)))
}

function toPlaintext(message: PlaintextMessage): Decoded {
  const { id, type, from, to, thid, pthid, created_time: created, expires_time: expires } = message
  const facts = {
    type,
    id,
    from,
    to,
    thread: thid,
    'parent thread': pthid,
    created: timeOf(created),
    expires: timeOf(expires),
    attachments: message.attachments?.map(describeAttachment),
  }
  const title = type === invitationType ? 'DIDComm invitation' : 'DIDComm message, not encrypted'
  const checks = [notVerified('sender', 'the message is neither encrypted nor signed')]
  return decodedOf('didcomm-plain', title, facts, { checks, content: { message } })
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
  const facts = {
    algorithm: header.alg,
    encryption: header.enc,
    'ephemeral key': header.epk.crv,
    'sender key': senderKid,
    'recipient keys': kids,
  }
  const title = `DIDComm message, encrypted (${senderKid === undefined ? 'anoncrypt' : 'authcrypt'}): only its header can be read`
  const checks = [notVerified('content', 'agent didcomm unpack decrypts a message of your wallet')]
  return decodedOf('didcomm-encrypted', title, facts, { checks, content: { header } })
}

async function decodeSigned(value: JsonObject, sources: Sources): Promise<Decoded> {
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
  const parts = [await sources.decode(JSON.stringify(payload))]
  return decodedOf('didcomm-signed', 'DIDComm message, signed', facts, { checks: [signature], parts })
}
