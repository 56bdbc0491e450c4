/** Links in QR codes: their kind, and the server that they refer to. */

/** The kind of a link of OpenID4VC by its scheme and parameters. Undefined for other texts. */
export function openIdLinkKind(text: string): 'offer' | 'request' | undefined {
  if (/^openid-credential-offer:|[?&]credential_offer(?:_uri)?=/.test(text)) return 'offer'
  return /^openid4vp:|[?&](?:request_uri|request|dcql_query)=/.test(text) ? 'request' : undefined
}

/** The server that a link of OpenID4VC refers to; of another link, the link itself. */
export function serverOf(link: string): string {
  const { searchParams } = new URL(link)
  const offer = searchParams.get('credential_offer')
  return (
    searchParams.get('credential_offer_uri') ??
    searchParams.get('request_uri') ??
    searchParams.get('response_uri') ??
    (offer === null ? link : (JSON.parse(offer) as { credential_issuer: string }).credential_issuer)
  )
}

/** True for a link that only this computer reaches. */
export function isLoopback(link: string): boolean {
  const { hostname } = new URL(serverOf(link))
  return /^(?:127\.[\d.]+|0\.0\.0\.0|\[::1?\]|(?:.+\.)?localhost)$/.test(hostname)
}
