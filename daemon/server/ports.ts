/** The addresses and ports of a daemon: from a flag or a variable, from its last start, or the defaults. */
import { isIP } from 'node:net'
import type { Config } from '../../src/foundation/config/config.ts'
import type { Configured } from '../../src/foundation/config/configure.ts'
import { settingsPath } from '../../src/foundation/config/settings.ts'
import type { ServerCertificate } from '../../src/foundation/net/certificate.ts'
import { isHttps } from '../../src/foundation/net/https.ts'
import { StartError } from '../../src/foundation/start-error.ts'

type Name = 'AGENT_HTTP_PORT' | 'AGENT_DIDCOMM_PORT'
const flags: Readonly<Record<Name, string>> = {
  AGENT_HTTP_PORT: '--port',
  AGENT_DIDCOMM_PORT: '--didcomm-port',
}

/**
 * Resolves the address: the servers bind all interfaces, and accept connections at this address and loopback
 * ones. `host` is what URLs contain. The module for it is a bundle of its own, because few daemons need it.
 *
 * @throws {StartError} 2 when this machine has no such address
 */
export async function resolveLan(given: Configured): Promise<{ configured: Configured; host: string }> {
  const { AGENT_LAN: wanted, AGENT_HOST } = given.config
  if (wanted === 'off') return { configured: given, host: AGENT_HOST }
  const { findLan } = await import('../../src/foundation/net/lan.ts')
  const { address: host, network } = await findLan(wanted)
  const config = { ...given.config, AGENT_HOST: '0.0.0.0', AGENT_LAN: network }
  return { configured: { ...given, config }, host }
}

/**
 * The certificate of the servers, for the address in their URLs; undefined without HTTPS.
 *
 * @throws {StartError} 2
 */
export async function loadCertificate(config: Config, host: string): Promise<ServerCertificate | undefined> {
  if (!isHttps(config)) return undefined
  const { findCertificate } = await import('../../src/foundation/net/certificate.ts')
  return findCertificate(config, isIP(host) && host !== '0.0.0.0' && host !== '::' ? [host] : [])
}

/**
 * Binds a port. Port 0 is the port of the last start, because peers know it, or a free port if it is in use.
 *
 * @throws {StartError} as `bind` does
 */
export async function bindConfigured<Bound>(
  configured: Configured,
  name: Name,
  bind: (host: string, port: number, remedy: string) => Promise<Bound>,
): Promise<Bound> {
  const { config, settings } = configured
  const [host, port, last] = [config.AGENT_HOST, config[name], Number(settings[name] ?? 0)]
  const remedy = remedyOf(configured, name)
  if (port !== 0 || last === 0) return bind(host, port, remedy)
  try {
    return await bind(host, last, remedy)
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return bind(host, 0, remedy)
  }
}

/** The sentence of an error message with the origin of the port and the remedy. */
function remedyOf({ config, sourceOf }: Configured, name: Name): string {
  const flag = flags[name]
  const settings = settingsPath(config.AGENT_CONFIG_DIR, config.AGENT_PROFILE)
  const from = {
    flag: `${flag} names it`,
    environment: `The variable ${name} names it`,
    file: `${name} in ${config.AGENT_CONFIG_FILE} names it`,
    profile: `${name} in ${settings} names it`,
    default: `It is the default of ${name}`,
  }[sourceOf(name)]
  return `${from}. Stop the program that uses it, or choose another port: ${flag} 0 uses a free one.`
}
