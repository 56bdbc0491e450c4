/** The browser of a person: from the wallet to the provider, and back to the issuer. */
import { show, type Parameters, type Shown } from '../_authorization.ts'
import { issuerClient } from '../_provider.ts'
import type { Issuer, Setup } from '../_wallet.ts'

/** Sets the log-in of an issuer. */
export function useProvider({ tenant, issuerId }: Setup, issuer: string, settings: object = {}) {
  const credentials = 'keyId' in settings ? { clientId: issuerClient.clientId } : issuerClient
  const defaults = { acrValues: null, maxAge: null, claimsFrom: 'id_token' as const, scope: 'openid' }
  const body = { logIn: { ...defaults, issuer, ...credentials, ...settings } }
  return tenant.call('PATCH /oid4vci/issuers/{issuerId}', { path: { issuerId }, body })
}

/** The browser follows redirects at the provider until it comes back. */
export async function visit({ identifier }: Issuer, start: string): Promise<URL> {
  const cookies = new Map<string, string>()
  let location = new URL(start)
  while (!location.href.startsWith(`${identifier}/log-in`)) {
    const cookie = [...cookies].map((each) => each.join('=')).join('; ')
    const response = await fetch(location, { redirect: 'manual', headers: { cookie } })
    for (const each of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(each)!
      cookies.set(name!, value!)
    }
    const next = response.headers.get('location')
    if (next === null) throw new Error(`${location.href}: ${response.status} ${await response.text()}`)
    location = new URL(next, location)
  }
  return location
}

const open = (url: string, cookie: string | undefined): Promise<Shown> =>
  show(url, { headers: cookie === undefined ? {} : { cookie } })

/** Opens the authorization endpoint. */
export function departed({ identifier }: Issuer, parameters: Parameters, cookie?: string): Promise<Shown> {
  const query = new URLSearchParams(parameters as Record<string, string>).toString()
  return open(`${identifier}/authorize?${query}`, cookie)
}

/** Opens the authorization endpoint, which sends the browser on. */
export async function begin(issuer: Issuer, parameters: Parameters, cookie?: string) {
  const shown = await departed(issuer, parameters, cookie)
  if (shown.status !== 303) throw new Error(`${shown.status}: ${shown.text}`)
  const [own] = shown.headers.getSetCookie()
  return { redirect: shown.location!.href, cookie: own!.split(';')[0]! }
}

/** Opens the URL that the provider has sent the browser back to. */
export const comeBack = (url: URL, cookie: string | undefined): Promise<Shown> => open(url.href, cookie)

/** The page that the person sees after the log-in. */
export async function browse(issuer: Issuer, parameters: Parameters): Promise<Shown> {
  const { redirect, cookie } = await begin(issuer, parameters)
  return comeBack(await visit(issuer, redirect), cookie)
}
