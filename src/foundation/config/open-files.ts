/** Fits the numbers of open wallets and connections to the limit of open files. */
import { readFileSync } from 'node:fs'
import type { Config } from './config.ts'

/** Descriptors of databases, the log and outgoing connections. */
const others = 90
/** The database, its log (for SQLite and for `LogSync`) and the index of the log. */
const filesOfWallet = 4

/** The hard limit, to which Node.js raises the soft one; undefined if it is unknown or there is none. */
function readLimit(): number | undefined {
  try {
    const found = /^Max open files +\d+ +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))
    return found ? Number(found[1]) : undefined
  } catch {
    return undefined
  }
}

/** Lowers the numbers of open wallets, connections and WebSockets to the limit. The warning is one sentence. */
export function fitOpenFiles(config: Config, limit = readLimit()): { config: Config; warning?: string } {
  const { AGENT_OPEN_WALLETS: wallets, AGENT_CONNECTIONS: connections } = config
  const sockets = config.AGENT_MEDIATOR ? config.MEDIATOR_SOCKETS : 0
  const wanted = others + wallets * filesOfWallet + connections * 2 + sockets
  if (limit === undefined || limit >= wanted) return { config }
  const room = Math.max(24, limit - others)
  const fewerWallets = Math.max(2, Math.min(wallets, Math.floor((room * 0.4) / filesOfWallet)))
  const share = (room - fewerWallets * filesOfWallet) / (connections * 2 + sockets)
  const fewer = Math.max(4, Math.min(connections, Math.floor(connections * share)))
  const fewerSockets = Math.max(1, Math.min(sockets, Math.floor(sockets * share)))
  const list = (connections: number, sockets: number) =>
    config.AGENT_MEDIATOR
      ? `, ${connections} connections to each server and ${sockets} WebSockets`
      : ` and ${connections} connections to each server`
  const warning =
    `This process may have ${limit} files and connections open, which is enough for ${fewerWallets} open wallets${list(fewer, fewerSockets)} instead of ` +
    `${wallets}${list(connections, sockets)}. Raise the limit to ${wanted} (ulimit -Hn, LimitNOFILE= of systemd), or lower AGENT_CONNECTIONS${config.AGENT_MEDIATOR ? ' or MEDIATOR_SOCKETS' : ''}.`
  return {
    config: {
      ...config,
      AGENT_OPEN_WALLETS: fewerWallets,
      AGENT_CONNECTIONS: fewer,
      ...(config.AGENT_MEDIATOR && { MEDIATOR_SOCKETS: fewerSockets }),
    },
    warning,
  }
}
