/**
 * Errors of the OAuth and OpenID4VCI endpoints: a code of the specification and its description (RFC 6749
 * §4.1.2.1 and §5.2, RFC 6750 §3, RFC 9396 §5, RFC 9449 §5, VCI §8.3.1, OpenID4VP §8.5).
 */

const statuses = {
  invalid_request: 400,
  invalid_client: 400,
  invalid_grant: 400,
  invalid_scope: 400,
  invalid_authorization_details: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  request_not_supported: 400,
  access_denied: 400,
  server_error: 500,
  temporarily_unavailable: 503,
  invalid_dpop_proof: 400,
  use_dpop_nonce: 400,
  invalid_token: 401,
  insufficient_scope: 403,
  invalid_credential_request: 400,
  unknown_credential_configuration: 400,
  unknown_credential_identifier: 400,
  invalid_proof: 400,
  invalid_nonce: 400,
  invalid_encryption_parameters: 400,
  credential_request_denied: 400,
  invalid_transaction_id: 400,
  invalid_notification_request: 400,
  invalid_notification_id: 400,
  // OpenID4VP §8.5, which wallets send to verifiers.
  invalid_request_uri_method: 400,
  invalid_transaction_data: 400,
  vp_formats_not_supported: 400,
} as const
export type OAuthErrorCode = keyof typeof statuses

/** The error of a wallet’s request or response, as `metaLastFailure` of its record has it. */
export function toFailure({ code, status, message }: OAuthError) {
  return { status, type: code, title: code.replaceAll('_', ' '), detail: message }
}

export class OAuthError extends Error {
  override name = 'OAuthError'
  readonly code: OAuthErrorCode
  readonly status: number
  /** The `DPoP-Nonce` header. */
  readonly dpopNonce: string | undefined

  /**
   * `description` is public. Characters that `error_description` must not have are replaced. `status`
   * replaces that of the code.
   */
  constructor(
    code: OAuthErrorCode,
    description: string,
    options: ErrorOptions & { status?: number; dpopNonce?: string } = {},
  ) {
    super(toDescription(description), options)
    this.code = code
    this.status = options.status ?? statuses[code]
    this.dpopNonce = options.dpopNonce
  }
}

/** Signs that the messages of this program have, in ASCII. */
const signs: Readonly<Record<string, string>> = {
  '§': 'section ',
  '’': "'",
  '‘': "'",
  '“': "'",
  '”': "'",
  '"': "'",
  '\\': "'",
  '–': '-',
  '…': '...',
}

/**
 * A text as `error_description` may have it: ASCII without quotation mark and backslash (RFC 6749 §5.2, VCI
 * §11.1).
 */
export function toDescription(text: string): string {
  return text.replaceAll(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/gu, (sign) => signs[sign] ?? '?').slice(0, 500)
}
