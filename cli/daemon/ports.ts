/** The ports of a second daemon on this machine. */
import { once } from 'node:events'
import { createServer } from 'node:net'
import type { Settings } from '../../src/foundation/config/settings.ts'

/** The default ports. */
const usual = { AGENT_HTTP_PORT: 8085, AGENT_DIDCOMM_PORT: 8090 }

/**
 * Lets a profile other than the default one take free ports, and says so, if a default port is in use and no
 * source sets it. The daemon keeps them. `layers` are the settings of the start, highest precedence first.
 */
export async function takeFreePorts(
  profile: string,
  layers: readonly Settings[],
  say: (text: string) => void,
  ports: Readonly<Record<string, number>> = usual,
): Promise<Settings> {
  const valueOf = (name: string) => layers.find((layer) => layer[name] !== undefined)?.[name]
  const host = valueOf('AGENT_HOST') ?? '127.0.0.1'
  const unset = Object.entries(ports).filter(([name]) => valueOf(name) === undefined)
  if (profile === 'local') return {}
  const busy: number[] = []
  for (const [, port] of unset) if (await isBusy(host, port)) busy.push(port)
  if (busy.length === 0) return {}
  const used = busy.length === 1 ? `Port ${busy[0]} is` : `Ports ${busy.join(' and ')} are`
  say(`${used} in use. The profile ${profile} takes free ports, and keeps them.`)
  return Object.fromEntries(unset.map(([name]) => [name, '0']))
}

async function isBusy(host: string, port: number): Promise<boolean> {
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EADDRINUSE'
  } finally {
    server.close()
  }
}
