/** Decodes stored AnonCreds credentials. Nothing in them is verified. */
import { parseJson } from '../../foundation/json.ts'
import { reasonOf } from '../../foundation/reason.ts'
import type { CredentialStatus } from '../codecs/jwt-vc.ts'
import { VerificationError } from '../codecs/verification-error.ts'
import { Credential } from './model.ts'

/**
 * The claims, the schema and the definition. This agent does not support revocation of AnonCreds.
 *
 * @throws {VerificationError}
 */
export function decodeCredential(text: string) {
  const { schema_id, cred_def_id, values } = parse(text)
  const statuses: CredentialStatus[] = []
  return { claims: claimsOf(values), schemas: [schema_id], definition: cred_def_id, statuses }
}

function parse(text: string): Credential {
  try {
    return Credential.parse(parseJson(Buffer.from(text)))
  } catch (cause) {
    throw new VerificationError('malformed', `The AnonCreds credential cannot be read: ${reasonOf(cause)}`, {
      cause,
    })
  }
}

export function claimsOf(values: Credential['values']): Record<string, string> {
  return Object.fromEntries(Object.entries(values).map(([name, { raw }]) => [name, raw]))
}
