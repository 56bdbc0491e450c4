/** The tables of OpenID4VCI issuance in a wallet's file. */
export interface IssuanceTables {
  /** Sessions of OpenID4VCI issuance, one for each offered credential. The record has the state. Digests are SHA-256, base64url. */
  issuance_session: {
    record_id: string
    issuer_id: string
    configuration_id: string
    /** Of the last part of `credential_offer_uri`, if the offer was made by reference. */
    offer_digest: string | null
    /** Of the pre-authorized code. */
    code_digest: string
    /** JSON of the code and the transaction code, sealed. Null when the code has been redeemed. */
    sealed: string | null
    /** How often a wrong transaction code may still be sent. */
    guesses: number
    /** Of the access token. */
    token_digest: string | null
    /** ISO 8601. */
    token_expires_at: string | null
  }

  /** The nonces of key proofs that a credential was issued for. Rows are deleted when the nonce has expired. */
  issuance_nonce: { digest: string; expires_at: string }
}
