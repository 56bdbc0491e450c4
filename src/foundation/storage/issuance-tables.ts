/** The tables of OpenID4VCI issuance and of OpenID4VP requests in a wallet's file. */
export interface IssuanceTables {
  /**
   * Grants of OpenID4VCI: what one wallet may get. The id is the `thid` of their records. Digests are
   * SHA-256, base64url.
   */
  issuance_grant: {
    id: string
    issuer_id: string
    /** JSON, the ids of the records of its credentials, in the order of the offer. */
    records: string
    /** The URL of the external authorization server that the offer is for. Null: the built-in one. */
    authorization_server: string | null
    /** Of `issuer_state`, if the grant of the offer is `authorization_code`. */
    state_digest: string | null
    /** Of the pre-authorized code, or of the authorization code when the person has consented. */
    code_digest: string | null
    /** JSON of the authorization request that the authorization code is for. */
    authorized: string | null
    /** JSON of the secrets of the offer, sealed. Null when the code has been redeemed. */
    sealed: string | null
    /** How often a wrong transaction code may still be sent, or a presentation that does not fit. */
    guesses: number
    /** JSON of who has logged in, sealed. */
    identity: string | null
    /** JSON of what the person has presented before, sealed. */
    presented: string | null
    /** Of the refresh token, and of the one before. */
    refresh_digest: string | null
    replaced_digest: string | null
    /** JSON of what the refresh token is bound to, and its ends, see `oid4vci/renewal.ts`. */
    renewal: string | null
  }

  /** Access tokens of the built-in authorization server, by their digest. */
  issuance_token: {
    digest: string
    grant_id: string
    /** JSON, the ids of the records that the token is for. */
    records: string
    /** The thumbprint of the key that the token is bound to (RFC 7638, RFC 9449). Null: a bearer token. */
    jkt: string | null
    /** ISO 8601. */
    expires_at: string
    /** Until when it is good at the deferred endpoint alone. Null: not longer than elsewhere. */
    deferred_until: string | null
    /** 1: by a refresh token, for credentials that were issued before. */
    is_refreshed: number
  }

  /** Messages that ask the person of an offer to take it: a link, or a transaction code. */
  offer_delivery: {
    /** That of the event which asks the tenant to send the message. */
    id: string
    grant_id: string
    /** Of the last part of the link. Null for a transaction code. */
    link_digest: string | null
    /** JSON of the data of the event with its secrets, sealed. Null when the message was sent. */
    sealed: string | null
  }

  /**
   * Values of single use: nonces of key proofs that a credential was issued for, ids of DPoP proofs, and ids
   * of answered authorization requests. Rows are deleted when the value has expired.
   */
  issuance_nonce: { digest: string; expires_at: string }

  /**
   * Holder: with what the credentials of an offer are renewed. `thid` is that of their records, which share a
   * refresh token. JSON of the refresh token and its keys, sealed.
   */
  renewal_grant: { thid: string; sealed: string }

  /** Sessions of OpenID4VP requests. The record has the request and its state. Digests are SHA-256, base64url. */
  presentation_session: {
    record_id: string
    /** Of the last part of the request's URL. */
    token_digest: string
    /** Of the response code that the person's browser has and that is not redeemed. */
    code_digest: string | null
    /** The private JWK that decrypts the response, sealed. Null if the response is not encrypted. */
    sealed: string | null
  }
}
