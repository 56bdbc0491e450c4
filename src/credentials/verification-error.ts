/** Why a token was refused: one code for each check of this folder, so that a verifier can say which one failed and a test can tell them apart. */

/** Every code with what it means, for the README's table and the tests. */
export const failures = {
  malformed:
    'The token is not a compact JWS over UTF-8 JSON of the expected shape, or it is written in a form that is not the only one.',
  'too-large': 'The token is longer than this agent reads.',
  'critical-header':
    'The header has `crit` or `b64`, which change how a token is to be read and are not understood here.',
  algorithm: 'The algorithm is not EdDSA, ES256K or ES256, or no key that could have signed is of its curve.',
  signature: 'No key that may sign for the DID in `iss` made this signature.',
  'kid-not-bound': 'The `kid` does not name a key that the DID in `iss` allows for this purpose.',
  'no-key': 'The document of the DID in `iss` has no key for this purpose.',
  'issuer-unresolvable': 'The DID of the issuer could not be resolved.',
  'holder-unresolvable': 'The DID of the holder could not be resolved.',
  'issuer-mismatch': 'The issuer that the credential names is not the DID in `iss`.',
  'subject-mismatch': 'The subject that the credential names is not the one in `sub`.',
  expired: 'The token is past the end of its validity.',
  'not-yet-valid': 'The validity of the token has not begun.',
  audience: 'The presentation was not made for this domain.',
  nonce: 'The presentation does not answer this challenge.',
  'credential-count': 'The presentation holds fewer or more credentials than may be presented.',
  'holder-binding': 'The presenter is not the subject of the credential.',
  'claim-missing': 'A claim that was asked for is not shown.',
  'credential-missing': 'No credential is shown that satisfies a line of `proofs`.',
  'schema-not-accepted': 'The credential has none of the schemas that were asked for.',
  'issuer-not-trusted': 'The issuer of the credential is not among the trusted ones.',
  status: 'The credential is revoked or suspended, or its status could not be established.',
} as const satisfies Record<string, string>

/** The code of one failed check. */
export type Failure = keyof typeof failures

/** Thrown by every verification of this folder; the message says what was found, in words for a person, without the expected challenge. */
export class VerificationError extends Error {
  override name = 'VerificationError'
  readonly code: Failure

  constructor(code: Failure, detail: string, options?: ErrorOptions) {
    super(detail, options)
    this.code = code
  }
}
