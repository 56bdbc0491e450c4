/** The browser of a person: from the wallet to the provider, and back to the issuer. */
import type { Parameters, Shown } from '../_authorization.ts'
import type { Issuer } from '../_wallet.ts'
import { visit } from './_log-in.ts'

export { useProvider, visit } from './_log-in.ts'

async function show(url: string, cookie: string | undefined): Promise<Shown> {
  const headers = cookie === undefined ? {} : { cookie }
  const response = await fetch(url, { redirect: 'manual', headers })
  const location = response.headers.get('location')
  return {
    status: response.status,
    text: await response.text(),
    headers: response.headers,
    location: location === null ? undefined : new URL(location),
  }
}

/** Opens the authorization endpoint. */
export function departed({ identifier }: Issuer, parameters: Parameters, cookie?: string): Promise<Shown> {
  const query = new URLSearchParams(parameters as Record<string, string>).toString()
  return show(`${identifier}/authorize?${query}`, cookie)
}

/** Opens the authorization endpoint, which sends the browser on. */
export async function begin(issuer: Issuer, parameters: Parameters, cookie?: string) {
  const shown = await departed(issuer, parameters, cookie)
  if (shown.status !== 303) throw new Error(`${shown.status}: ${shown.text}`)
  const [own] = shown.headers.getSetCookie()
  return { redirect: shown.location!.href, cookie: own!.split(';')[0]! }
}

/** Opens the URL that the provider has sent the browser back to. */
export const comeBack = (url: URL, cookie: string | undefined): Promise<Shown> => show(url.href, cookie)

/** The page that the person sees after the log-in. */
export async function browse(issuer: Issuer, parameters: Parameters): Promise<Shown> {
  const { redirect, cookie } = await begin(issuer, parameters)
  return comeBack(await visit(issuer, redirect), cookie)
}
