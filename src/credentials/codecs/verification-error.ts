/** The error of every verification. Its code tells which check failed. */

/** Codes and their meanings. */
export const failures = {
  malformed:
    'The token is not a compact JWS over UTF-8 JSON of the expected form, or its encoding is not canonical.',
  'too-large': 'The token exceeds the length limit.',
  'critical-header': 'The header has `crit` or `b64`, which are not supported.',
  algorithm: 'The algorithm is not EdDSA, ES256K or ES256, or no permitted key has its curve.',
  signature: 'No permitted key of the DID in `iss` made the signature.',
  digests: 'A part of the credential is not what the issuer has signed the digest of.',
  'kid-not-bound': 'The `kid` names no key that the DID in `iss` permits for this purpose.',
  'no-key': 'The document of the DID in `iss` has no key for this purpose.',
  'issuer-unresolvable': 'The DID of the issuer could not be resolved.',
  'holder-unresolvable': 'The DID of the holder could not be resolved.',
  'issuer-mismatch': 'The `issuer` of the credential is not the DID in `iss`.',
  'subject-mismatch': 'The id of the subject is not the one in `sub`.',
  expired: 'The validity of the token has ended.',
  'not-yet-valid': 'The validity of the token has not begun.',
  audience: 'The presentation has another audience than the domain of the request.',
  nonce: 'The nonce of the presentation is not the challenge of the request.',
  'credential-count': 'The presentation has too few or too many credentials.',
  'holder-binding': 'The holder is not the subject of the credential, or the key binding is invalid.',
  'claim-missing': 'A requested claim is not disclosed.',
  'credential-missing': 'No credential satisfies a line of `proofs`.',
  'schema-not-accepted': 'The credential has none of the accepted schemas.',
  'issuer-not-trusted': 'The issuer of the credential is not among the trusted ones.',
  status: 'The credential is revoked or suspended, or its status could not be determined.',
} as const satisfies Record<string, string>

/** The code of a failed check. */
export type Failure = keyof typeof failures

/** The message describes the fault for a person. It never contains the expected challenge. */
export class VerificationError extends Error {
  override name = 'VerificationError'
  readonly code: Failure

  constructor(code: Failure, detail: string, options?: ErrorOptions) {
    super(detail, options)
    this.code = code
  }
}
