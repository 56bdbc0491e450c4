/**
 * Checks the two ports. On Linux /proc shows the addresses and the process (proc(5)); elsewhere only a test
 * bind is possible.
 */
import { once } from 'node:events'
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import type { Config } from '../../foundation/config/config.ts'
import type { Finding } from './check.ts'

/** The addresses at which a running agent listens. */
export function checkOwnPorts({ api, didcomm }: { api: number; didcomm: number }): Finding {
  const where = (port: number) =>
    findListening(port)
      .map(({ address }) => `${address}:${port}`)
      .join(' and ') || `port ${port}`
  return { status: 'ok', detail: `The API listens at ${where(api)}, DIDComm at ${where(didcomm)}.` }
}

/** Whether the ports are free while no agent runs. */
export async function checkFreePorts(
  config: Pick<Config, 'AGENT_HOST' | 'AGENT_HTTP_PORT' | 'AGENT_DIDCOMM_PORT'>,
): Promise<Finding> {
  const { AGENT_HOST: host, AGENT_HTTP_PORT: api, AGENT_DIDCOMM_PORT: didcomm } = config
  const flags = { AGENT_HTTP_PORT: '--port 0', AGENT_DIDCOMM_PORT: '--didcomm-port 0' }
  for (const [variable, port] of [
    ['AGENT_HTTP_PORT', api],
    ['AGENT_DIDCOMM_PORT', didcomm],
  ] as const) {
    const code = port === 0 ? undefined : await tryToBind(host, port)
    if (code === undefined) continue
    const state = code === 'EADDRINUSE' ? `is ${describeHolder(port)}` : `cannot be bound (${code})`
    return {
      status: 'failed',
      detail: `Port ${port} of ${host} ${state} (${variable}).`,
      hint: `agent daemon start ${flags[variable]}`,
    }
  }
  const name = (port: number) => (port === 0 ? 'any free port' : String(port))
  return {
    status: 'ok',
    detail: `The ports of ${host} are free: ${name(api)} for the API, ${name(didcomm)} for DIDComm.`,
  }
}

/** The process that uses a port. The system hides processes of other users. */
function describeHolder(port: number): string {
  const [holder] = findHolders(findListening(port).map(({ inode }) => inode))
  return holder ? `used by process ${holder.pid} (${holder.command})` : 'in use'
}

/** The error code of a test bind; undefined when it succeeds. */
async function tryToBind(host: string, port: number): Promise<string | undefined> {
  const server = createServer()
  try {
    server.listen(port, host)
    await once(server, 'listening')
    return undefined
  } catch (error) {
    return (error as NodeJS.ErrnoException).code ?? (error as Error).message
  } finally {
    server.close()
  }
}

type Listening = { address: string; port: number; inode: string }

function findListening(port: number): Listening[] {
  return ['/proc/net/tcp', '/proc/net/tcp6']
    .flatMap((file) => readListening(file))
    .filter((each) => each.port === port)
}

/** Parses lines `sl local_address rem_address st … uid timeout inode`. The state 0A is LISTEN. */
function readListening(file: string): Listening[] {
  return attempt(() => readFileSync(file, 'latin1'), '')
    .split('\n')
    .slice(1)
    .flatMap((line) => {
      const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/)
      const [address = '', port = ''] = local.split(':')
      return state === '0A' ? [{ address: toAddress(address), port: parseInt(port, 16), inode }] : []
    })
}

/** An address from hexadecimal words in machine byte order. All platforms of Node.js are little-endian. */
export function toAddress(hex: string): string {
  const bytes = hex.match(/.{8}/g)!.flatMap((word) => word.match(/../g)!.toReversed())
  if (bytes.length === 4) return bytes.map((byte) => parseInt(byte, 16)).join('.')
  const text = bytes.join('').match(/.{4}/g)!.join(':')
  // Shorten the unspecified address.
  return `[${text === Array(8).fill('0000').join(':') ? '::' : new URL(`http://[${text}]`).hostname.slice(1, -1)}]`
}

/** The processes that have one of the sockets, as far as /proc is readable. */
function findHolders(inodes: readonly string[]): { pid: number; command: string }[] {
  const links = new Set(inodes.map((inode) => `socket:[${inode}]`))
  return (
    attempt(() => readdirSync('/proc'), [])
      .filter((name) => /^\d+$/.test(name))
      .filter((pid) =>
        attempt(() => readdirSync(`/proc/${pid}/fd`), []).some((fd) =>
          links.has(attempt(() => readlinkSync(`/proc/${pid}/fd/${fd}`), '')),
        ),
      )
      // Only the name, since arguments may contain secrets.
      .map((pid) => ({
        pid: Number(pid),
        command: attempt(() => readFileSync(`/proc/${pid}/comm`, 'utf8').trim(), '?'),
      }))
  )
}

function attempt<T>(read: () => T, otherwise: T): T {
  try {
    return read()
  } catch {
    return otherwise
  }
}
