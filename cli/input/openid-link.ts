/** Links of OpenID4VC: an offer of an issuer, or a request of a verifier. */

/** The kind of a link by its scheme and parameters. Undefined for other texts. */
export function openIdLinkKind(text: string): 'offer' | 'request' | undefined {
  if (/^openid-credential-offer:|[?&]credential_offer(?:_uri)?=/.test(text)) return 'offer'
  return /^openid4vp:|[?&](?:request_uri|request|dcql_query)=/.test(text) ? 'request' : undefined
}
