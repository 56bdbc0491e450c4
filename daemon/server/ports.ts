/** The ports of a daemon: told by a flag or a variable, known from its last start, or the usual ones. */
import type { Server } from 'node:http'
import type { Configured } from '../../src/base/configure.ts'
import { settingsPath } from '../../src/base/settings.ts'
import { StartError } from '../../src/base/start-error.ts'
import { bind } from './listen.ts'

type Name = 'AGENT_HTTP_PORT' | 'AGENT_DIDCOMM_PORT'
const flags: Readonly<Record<Name, string>> = {
  AGENT_HTTP_PORT: '--port',
  AGENT_DIDCOMM_PORT: '--didcomm-port',
}

/** Binds a server. 0 is the free port of the last start, since peers know it, and another one where that is taken. @throws {StartError} as `bind` does. */
export async function bindAsTold(
  configured: Configured,
  name: Name,
  limits: Parameters<typeof bind>[3],
): Promise<Server> {
  const { config, settings } = configured
  const [host, port, last] = [config.AGENT_HOST, config[name], Number(settings[name] ?? 0)]
  const wayOut = wayOutOf(configured, name)
  if (port !== 0 || last === 0) return bind(host, port, wayOut, limits)
  try {
    return await bind(host, last, wayOut, limits)
  } catch (error) {
    if (!(error instanceof StartError)) throw error
    return bind(host, 0, wayOut, limits)
  }
}

/** Where the port comes from, and the way out. */
function wayOutOf({ config, sourceOf }: Configured, name: Name): string {
  const flag = flags[name]
  const settings = settingsPath(config.AGENT_CONFIG_DIR, config.AGENT_PROFILE)
  const from = {
    flag: `${flag} names it`,
    environment: `The variable ${name} names it`,
    settings: `${name} in ${settings} names it`,
    default: `It is the default of ${name}`,
  }[sourceOf(name)]
  return `${from}. Stop the program that uses it, or choose another port: ${flag} 0 takes a free one.`
}
