/**
 * Redirect URIs of wallets, which are public clients without registration (RFC 6749 §3.1.2, RFC 8252 §7). The
 * person's consent, the transaction code and PKCE protect the code. These rules keep the browser from running
 * or loading anything else.
 */

/** Loopback hosts of wallets on the same machine (RFC 8252 §7.3). */
const loopback = ['127.0.0.1', '[::1]', 'localhost']

/** Why a redirect URI cannot be used. Undefined if it can. */
export function faultOfRedirectUri(text: string): string | undefined {
  if (!/^[\x21-\x7e]{1,2000}$/.test(text) || !URL.canParse(text)) return 'is not an absolute URI'
  if (text.includes('#')) return 'has a fragment'
  const { protocol, host, hostname, username, password } = new URL(text)
  if (username !== '' || password !== '') return 'has a user name'
  // Other characters would change the policy of the consent page, which names the host (CSP 3 §2.3.1).
  if (!/^[\w.:[\]-]*$/.test(host))
    return 'has a host with other characters than letters, digits, hyphens and periods'
  if (protocol === 'https:') return undefined
  if (protocol === 'http:')
    return loopback.includes(hostname) ? undefined : 'is http for a host that is not this machine'
  // RFC 8252 §8.4: schemes of browsers, such as javascript and data, have no period.
  return protocol.includes('.')
    ? undefined
    : 'has a scheme that is neither https nor the reversed domain name of an app, such as com.example.wallet'
}
