/** The formats in which credentials are issued. */
import type { CredentialFormat } from '../../formats.ts'
import type { IssuanceFormat } from '../format.ts'
import { anonCreds } from './anoncreds.ts'
import { jwt } from './jwt.ts'
import { sdJwt } from './sd-jwt.ts'

export const issuanceFormats: Readonly<Record<CredentialFormat, IssuanceFormat>> = {
  JWT: jwt,
  SDJWT: sdJwt,
  AnonCreds: anonCreds,
}

/** The format of a record, or of what is offered. */
export function formatOf({ credentialFormat }: { credentialFormat: CredentialFormat }): IssuanceFormat {
  return issuanceFormats[credentialFormat]
}
