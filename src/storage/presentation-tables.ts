/** The tables of OpenID4VP requests in a wallet's file. */
export interface PresentationTables {
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
