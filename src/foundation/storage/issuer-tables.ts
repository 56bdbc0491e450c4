/** The tables of a wallet's file for X.509 and trust, with the types of `wallet-tables.ts`. */
export interface IssuerTables {
  /** Keys of issuers, with their certificates. */
  issuer_certificate: {
    sequence: number
    id: string
    /** JWK. */
    public_key: string
    /** The private JWK, sealed. */
    sealed: string
    /** The certificate signing request, in PEM. Null for a certificate of the development authority. */
    request: string | null
    /** The certificates in PEM, that of the key first. Null until a chain is imported. */
    chain: string | null
    /** Of the certificate, or else of the request: its attributes in their order, escaped as in RFC 4514. */
    subject: string
    /** JSON of the alternative names. */
    names: string
    /** The end of the first certificate in `x5c` that ends. */
    not_after: string | null
    is_development: number
    /** Of ISO mdoc: `mdoc`, `reader`. */
    profile: string | null
    /** The development authority of a profile that signed it. */
    authority_id: string | null
    /** When that authority revoked it. */
    revoked_at: string | null
    created_at: string
    updated_at: string
  }

  /** Development authorities of ISO mdoc. */
  issuer_authority: {
    sequence: number
    /** The token of the wallet in the URL of its revocation list. */
    id: string
    profile: string
    country: string | null
    province: string | null
    curve: string
    /** PEM, as the private key, which is sealed. */
    certificate: string
    sealed: string
    /** JSON of the revoked certificates, see `foundation/x509/crl.ts`. */
    revoked: string
    created_at: string
  }

  /** The authorities and issuers that the wallet trusts. */
  trust_anchor: {
    sequence: number
    id: string
    type: string
    /** A certificate in PEM, a DID, or the key identifier of an authority in base64url. */
    value: string
    /** Of type and value, hexadecimal. */
    digest: string
    name: string | null
    /** Of a certificate, as its key identifier and its end. */
    subject: string | null
    key_id: string | null
    not_after: string | null
    /** JSON of the document types that it is trusted for. Null: all. */
    doc_types: string | null
    created_at: string
  }
}
