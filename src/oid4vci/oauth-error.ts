/** Errors of the OAuth and OpenID4VCI endpoints: a code of the specification and its description (RFC 6749 §4.1.2.1 and §5.2, RFC 6750 §3, RFC 9396 §5, VCI §8.3.1). */

const statuses = {
  invalid_request: 400,
  invalid_grant: 400,
  invalid_scope: 400,
  invalid_authorization_details: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  request_not_supported: 400,
  access_denied: 400,
  invalid_token: 401,
  insufficient_scope: 403,
  invalid_credential_request: 400,
  unknown_credential_configuration: 400,
  unknown_credential_identifier: 400,
  invalid_proof: 400,
  invalid_nonce: 400,
  invalid_encryption_parameters: 400,
  credential_request_denied: 400,
} as const
export type OAuthErrorCode = keyof typeof statuses

export class OAuthError extends Error {
  override name = 'OAuthError'
  readonly code: OAuthErrorCode
  readonly status: number

  /** `description` is public. Characters that `error_description` must not have are replaced. */
  constructor(code: OAuthErrorCode, description: string, options?: ErrorOptions) {
    super(
      description
        .replaceAll(/["\\]/g, "'")
        .replaceAll(/[^\x20-\x7e]/g, '?')
        .slice(0, 500),
      options,
    )
    this.code = code
    this.status = statuses[code]
  }
}
