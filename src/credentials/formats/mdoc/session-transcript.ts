/** The transcript of a session. */
import { type PrivateJwk, type PublicJwk, thumbprintOf } from '../../../foundation/crypto/keys.ts'
import type { Session } from '../presentation.ts'
import { deviceMacKey, type Transcript, type TranscriptHints } from './transcript.ts'

export function transcriptOf(session: Session): Transcript {
  if (session.handover === 'org-iso-mdoc') return session
  const { encryptedTo } = session
  return { ...session, jwkThumbprint: encryptedTo ? thumbprintOf(encryptedTo) : null }
}

/** What helps to tell which other transcript a wallet has used. */
export function hintsOf(session: Session): TranscriptHints {
  return session.handover === 'dc-api' ? { clientId: session.clientId } : {}
}

/** Whether this side has a private key to agree with for the MAC of a device. */
export function canAgree(session: Session, deviceKey: PublicJwk): boolean {
  return agreeingKey(session, deviceKey) !== undefined
}

/** The key of a MAC of the device. Undefined if this side has no key to agree with. */
export function macKeyOf(
  session: Session,
  deviceKey: PublicJwk,
  transcript: Uint8Array,
): Uint8Array | undefined {
  const key = agreeingKey(session, deviceKey)
  return key && deviceMacKey(deviceKey, key, transcript)
}

function agreeingKey(session: Session, { crv }: PublicJwk): PrivateJwk | undefined {
  if (session.handover === 'org-iso-mdoc') return undefined
  const { encryptedTo } = session
  return encryptedTo && 'd' in encryptedTo && encryptedTo.crv === crv ? encryptedTo : undefined
}
