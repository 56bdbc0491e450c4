/** What a presentation that has come shows. The daemon has verified it; here it is only read. */

type Pair = readonly [name: string, value: unknown]

/** The claims of the credentials in JWT presentations, with their issuers. What cannot be read says nothing. */
export function presentedClaims(presentations: readonly string[]): Pair[] {
  return presentations.flatMap((presentation) =>
    credentialsIn(presentation).flatMap((credential): Pair[] => {
      const { iss, vc } = payloadOf(credential) as { iss?: unknown; vc?: { credentialSubject?: object } }
      const claims = Object.entries(vc?.credentialSubject ?? {}).filter(([name]) => name !== 'id')
      return [...claims.map(([name, value]): Pair => [`shown ${name}`, value]), ['issuer', iss]]
    }),
  )
}

function credentialsIn(presentation: string): string[] {
  const { vp } = payloadOf(presentation) as { vp?: { verifiableCredential?: unknown } }
  return [vp?.verifiableCredential ?? []].flat().filter((each) => typeof each === 'string')
}

function payloadOf(jwt: string): object {
  try {
    const payload: unknown = JSON.parse(Buffer.from(jwt.split('.')[1] ?? '', 'base64url').toString())
    return typeof payload === 'object' && payload !== null ? payload : {}
  } catch {
    return {}
  }
}
