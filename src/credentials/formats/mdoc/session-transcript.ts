/** The transcript of a session. */
import { type PublicJwk, thumbprintOf } from '../../../foundation/crypto/keys.ts'
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

/** The key of a MAC of the device. Undefined if this side has no key to agree with. */
export function macKeyOf(
  session: Session,
  deviceKey: PublicJwk,
  transcript: Uint8Array,
): Uint8Array | undefined {
  if (session.handover === 'org-iso-mdoc') return undefined
  const { encryptedTo } = session
  if (!encryptedTo || !('d' in encryptedTo) || encryptedTo.crv !== deviceKey.crv) return undefined
  return deviceMacKey(deviceKey, encryptedTo, transcript)
}
