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

/** Lowers the numbers of open wallets and connections to the limit. The warning is one sentence. */
export function fitOpenFiles(config: Config, limit = readLimit()): { config: Config; warning?: string } {
  const { AGENT_OPEN_WALLETS: wallets, AGENT_CONNECTIONS: connections } = config
  const wanted = others + wallets * filesOfWallet + connections * 2
  if (limit === undefined || limit >= wanted) return { config }
  const room = Math.max(24, limit - others)
  const fewerWallets = Math.max(2, Math.min(wallets, Math.floor((room * 0.4) / filesOfWallet)))
  const fewer = Math.max(4, Math.min(connections, Math.floor((room - fewerWallets * filesOfWallet) / 2)))
  const warning =
    `This process may have ${limit} files and connections open, which is enough for ${fewerWallets} open wallets and ${fewer} connections to each server instead of ` +
    `${wallets} and ${connections}. Raise the limit to ${wanted} (ulimit -Hn, LimitNOFILE= of systemd), or lower AGENT_CONNECTIONS.`
  return { config: { ...config, AGENT_OPEN_WALLETS: fewerWallets, AGENT_CONNECTIONS: fewer }, warning }
}
