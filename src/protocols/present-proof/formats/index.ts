/** The formats in which proofs are asked for and made. */
import type { CredentialFormat } from '../../formats.ts'
import type { ProofFormat } from '../format.ts'
import { anonCreds } from './anoncreds.ts'
import { jwt } from './jwt.ts'
import { sdJwt } from './sd-jwt.ts'

export const proofFormats: Readonly<Record<CredentialFormat, ProofFormat>> = {
  JWT: jwt,
  SDJWT: sdJwt,
  AnonCreds: anonCreds,
}

/** The format of a record, or of what is asked for. */
export function formatOf({ credentialFormat }: { credentialFormat: CredentialFormat }): ProofFormat {
  return proofFormats[credentialFormat]
}
